"""Outlying subspaces: the columns in which given rows are unlike their neighbours."""

from tamis.outliers.highdod import HighDOD as HighDOD
