"""Optimal binning (Katz 2005) of one column by classes or numbers, of the plane of two columns, of several columns."""

from tamis.discretize.optimal.boxes import Boxes, boxes
from tamis.discretize.optimal.numeric_target import FittedLines, FittedMeans, line_bins, mean_bins
from tamis.discretize.optimal.optimal import optimal
from tamis.discretize.optimal.rectangles import Rectangles, rectangles

__all__ = [
    "Boxes",
    "FittedLines",
    "FittedMeans",
    "Rectangles",
    "boxes",
    "line_bins",
    "mean_bins",
    "optimal",
    "rectangles",
]
