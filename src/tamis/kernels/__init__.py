"""Compiled functions: arrays in, arrays out; no classes, no validation, no state.

The decorator :func:`tamis.kernels.compiler.kernel` sets the same options for all: cached on disk, releases the
interpreter lock, no ``parallel``, no ``fastmath``.
"""
