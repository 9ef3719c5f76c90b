"""BinMeans: numbers become the class shares of the bins they lie in."""

from tamis.discretize.bin_means.bin_means import BinMeans

__all__ = ["BinMeans"]
