"""Normalised radial basis functions: every training row votes for its class, the nearer the more."""

from tamis.classify.nrbf.nrbf import NRBF as NRBF
