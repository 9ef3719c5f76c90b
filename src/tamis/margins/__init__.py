"""Kernels, principal axes and support vector machines, shared by the parts that use them."""
