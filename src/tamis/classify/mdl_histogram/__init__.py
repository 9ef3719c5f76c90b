"""MDL histogram: axes halved as often as the length of the whole code says, and not at all where that is too dear."""

from tamis.classify.mdl_histogram.mdl_histogram import MDLHistogram

__all__ = ["MDLHistogram"]
