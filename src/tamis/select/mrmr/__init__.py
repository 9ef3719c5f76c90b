"""mRMR: pick one column after another, each as relevant to the classes and as little a repetition as can be."""

from tamis.select.mrmr.mrmr import MRMR

__all__ = ["MRMR"]
