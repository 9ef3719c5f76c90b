"""BinMeans: values become the class shares, or the mean target, of their bins."""

from tamis.discretize.bin_means.bin_means import BinMeans as BinMeans
