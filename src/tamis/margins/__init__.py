"""Kernels and widest margins: what selectors and classifiers that rest on a support vector machine share."""
