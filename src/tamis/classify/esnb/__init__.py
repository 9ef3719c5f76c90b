"""Enhanced selective naive Bayes: columns are added while the area under the lift curve grows."""

from tamis.classify.esnb.esnb import ESNB as ESNB
