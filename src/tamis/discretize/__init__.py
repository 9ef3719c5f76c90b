"""Discretization: numbers become the bins they lie in; one file a method."""

from tamis.base.part import room

#: Optimal binning of columns that are at hand, for a numeric target too.
_FUNCTIONS = dict.fromkeys(("line_bins", "mean_bins", "rectangles"), "tamis.discretize.optimal")

__getattr__, __dir__ = room(__name__, _FUNCTIONS)
