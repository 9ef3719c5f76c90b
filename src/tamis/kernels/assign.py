"""A copy of one array into another that compiles quickly."""

from tamis.kernels.compiler import helper


@helper
def assign(target, source):
    """Copy a one-dimensional array into the beginning of another.

    For ``target[:] = source`` numba also compiles a check of the shapes and the text of its message, for two seconds.
    """
    for i in range(source.shape[0]):
        target[i] = source[i]
