"""Enhanced selective naive Bayes: columns join as long as the area under the lift curve grows."""

from tamis.classify.esnb.esnb import ESNB

__all__ = ["ESNB"]
