"""What is known of a row: the subspaces in which it is outlying, and the answer in a sentence."""

from dataclasses import dataclass
from typing import Any

#: Columns that a sentence names, and subspaces that it does.
_NAMED, _ALSO = 6, 2


@dataclass(frozen=True, eq=False)
class Subspace:
    """A minimal outlying subspace.

    Attributes
    ----------
    columns : tuple of int
        The numbers of its columns, in rising order.
    names : tuple of str
        Their names.
    degree : float
        The outlying degree: the sum of the distances to the nearest rows.
    """

    columns: tuple[int, ...]
    names: tuple[str, ...]
    degree: float


@dataclass(frozen=True, eq=False)
class OutlyingRow:
    """The minimal outlying subspaces of a row.

    Attributes
    ----------
    row : int or None
        Its number among the rows of `fit`; None for a new row.
    name : str
        What it is called in sentences.
    threshold : float
        Degrees from here on are outlying.
    degree : float
        The outlying degree in all columns.
    subspaces : list of Subspace
        Those without a smaller one inside; the smallest first, of one size the highest degree first.
    largest : int
        Larger subspaces are not searched.
    unknown_columns : tuple of int
        The numbers of the columns without a value in this row, which are in no subspace.
    unknown : tuple of str
        Their names.
    n_columns : int
        The columns of the data.
    n_subspaces, n_evaluated : int
        Subspaces that were decided, and those among them whose degree was computed.
    """

    row: int | None
    name: str
    threshold: float
    degree: float
    subspaces: list[Subspace]
    largest: int
    unknown_columns: tuple[int, ...]
    unknown: tuple[str, ...]
    n_columns: int
    n_subspaces: int
    n_evaluated: int

    @property
    def is_outlying(self) -> bool:
        """Whether there is an outlying subspace of the searched sizes."""
        return bool(self.subspaces)

    def sentence(self) -> str:
        """The answer in words, with the names of the columns.

        Examples
        --------
        >>> far = Subspace((0, 2), ("age", "income"), 3.5)
        >>> OutlyingRow(17, "row 17", 3.0, 4.0, [far], 3, (), (), 5, 25, 12).sentence()
        'row 17 is unlike its neighbours in age and income'
        >>> OutlyingRow(18, "row 18", 3.0, 2.0, [], 3, (), (), 5, 25, 1).sentence()
        'row 18 is like its neighbours in all columns together, so in every subspace'
        """
        if not self.subspaces:
            return f"{self.name} is like its neighbours {self._like()}"
        first, *rest = self.subspaces
        also = [listed(one.names) for one in rest if len(one.names) == len(first.names)][:_ALSO]
        more = len(rest) - len(also)
        text = f"{self.name} is unlike its neighbours in {listed(first.names)}"
        if also:
            text += f", and in {', and in '.join(also)}"
        return f"{text}, and in {more} more subspace{'' if more == 1 else 's'}" if more else text

    def _like(self) -> str:
        known = self.n_columns - len(self.unknown)
        if known == 0:
            return "as far as is known: it has no values"
        if self.degree < self.threshold:
            columns = "its only column" if self.n_columns == 1 else "all columns together, so in every subspace"
            return f"in {columns}"
        return f"in every subspace of up to {self.largest} columns; larger ones were not searched"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "row": self.row,
            "name": self.name,
            "sentence": self.sentence(),
            "threshold": self.threshold,
            "degree": self.degree,
            "subspaces": [{"columns": list(one.names), "degree": one.degree} for one in self.subspaces],
            "max_features": self.largest,
            "unknown": list(self.unknown),
            "n_columns": self.n_columns,
            "n_subspaces": self.n_subspaces,
            "n_evaluated": self.n_evaluated,
        }


def listed(names: tuple[str, ...]) -> str:
    """Names in a sentence.

    >>> listed(("age",)), listed(("age", "sex", "income"))
    ('age', 'age, sex and income')
    """
    shown = list(names) if len(names) <= _NAMED else [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
