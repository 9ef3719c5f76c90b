"""Compiled functions: arrays in, arrays out; no classes, no validation, no state.

Every kernel is declared with :func:`tamis.kernels.compiler.kernel`, which holds the house rules in one
place: cached on disk, releases the interpreter lock, no ``parallel``, no ``fastmath``.
"""
