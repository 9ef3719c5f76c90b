"""Optimal binning (Katz 2005): of one column by the classes or a numeric target, and of the plane of two columns."""

from tamis.discretize.optimal.numeric_target import FittedLines, FittedMeans, line_bins, mean_bins
from tamis.discretize.optimal.optimal import optimal
from tamis.discretize.optimal.rectangles import Rectangles, rectangles

__all__ = ["FittedLines", "FittedMeans", "Rectangles", "line_bins", "mean_bins", "optimal", "rectangles"]
