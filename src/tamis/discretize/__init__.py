"""Discretization: numbers become the bins they lie in; one file a method."""

from tamis.base.part import room

#: Optimal binning of columns that are at hand. (A function `line_bins` too, in the folder: here that is a part.)
_FUNCTIONS = dict.fromkeys(("boxes", "mean_bins", "rectangles"), "tamis.discretize.optimal")

__getattr__, __dir__ = room(__name__, _FUNCTIONS)
