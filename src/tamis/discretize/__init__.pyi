# Written by `make docs` from what is found in the room.

from tamis.discretize.bin_means.bin_means import BinMeans as BinMeans
from tamis.discretize.discretize import Discretize as Discretize
from tamis.discretize.line_bins.line_bins import LineBins as LineBins
from tamis.discretize.optimal.boxes import boxes as boxes
from tamis.discretize.optimal.numeric_target import mean_bins as mean_bins
from tamis.discretize.optimal.rectangles import rectangles as rectangles
