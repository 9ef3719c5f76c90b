"""The ways to split rows, by name."""

from tamis.base.errors import TamisError
from tamis.validation.bootstrap import Bootstrap
from tamis.validation.folds import LeaveOneOut, OfficialSplit, Pooled, Scheme, StratifiedFolds


def scheme(split: str | None = None, *, folds: int = 10, repeats: int | None = None) -> Scheme:
    """The scheme called "folds" (the default), "pooled", "official", "leave-one-out" or "bootstrap".

    `repeats` is 1 for folds and 100 for the bootstrap by default.

    Examples
    --------
    >>> print(scheme("pooled", folds=5))
    5 stratified folds of the pooled rows
    """
    if split == "bootstrap":
        return Bootstrap() if repeats is None else Bootstrap(repeats)
    repeats = 1 if repeats is None else repeats
    if split in (None, "folds"):
        return StratifiedFolds(folds, repeats)
    if split == "pooled":
        return Pooled(StratifiedFolds(folds, repeats))
    single: dict[str | None, Scheme] = {"official": OfficialSplit(), "leave-one-out": LeaveOneOut()}
    if split not in single:
        raise TamisError(f"split must be folds, pooled, official, leave-one-out or bootstrap; got {split!r}")
    if repeats != 1:
        raise TamisError(f"split {split!r} is the same every time: repeats must be 1; got {repeats}")
    return single[split]
