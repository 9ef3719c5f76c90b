"""C4.5: a tree by gain ratio, with fractional cases for missing values, pruned by pessimistic errors."""

from tamis.classify.c45.c45 import C45 as C45
