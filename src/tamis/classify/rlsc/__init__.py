"""Regularized least-squares classification: the least squared error of class codes in the space of a kernel."""

from tamis.classify.rlsc.rlsc import RLSC as RLSC
