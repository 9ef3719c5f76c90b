"""MATLAB files."""

from tamis.data.readers.mat.mat import reader

__all__ = ["reader"]
