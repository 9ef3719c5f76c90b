"""LineBins: values become the regression lines of their bins."""

from tamis.discretize.line_bins.line_bins import LineBins as LineBins
