"""The kernels that parts of the catalog may call."""

from collections.abc import Iterable

from tamis.compose.catalog import entry
from tamis.kernels.compiler import Kernel, kernels_of


def needed_kernels(parts: Iterable[str]) -> list[Kernel]:
    """The kernels that the parts of some names may call, found by what their modules import.

    Examples
    --------
    >>> [kernel.__name__ for kernel in needed_kernels(["logistic"])]
    ['csc_gram']
    """
    entries = map(entry, parts)
    return kernels_of((each.make if each.score is None else each.score.function).__module__ for each in entries)
