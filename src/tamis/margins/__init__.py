"""Kernels and support vector machines, shared by the selectors and classifiers that use them."""
