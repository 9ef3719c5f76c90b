"""A study: the experiments of a paper as pieces of work, and the tables made of their findings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tamis.reporting.figure_description import Figure

#: The findings of the pieces by data set and name, without those whose data set is not available.
Findings = Mapping[tuple[str, str], Mapping[str, Any]]

#: Takes the work that is done and the total.
Progress = Callable[[float, float], None]


@dataclass(frozen=True)
class Task:
    """The input of a piece of work.

    `data` is None for a piece that makes its own; `repeats` is how often folds are drawn anew, for a piece that is
    repeated; the findings must not depend on `n_jobs`, the number of processes.
    """

    data: Any = None
    seed: int = 0
    repeats: int = 1
    n_jobs: int = 1
    progress: Progress = lambda done, total: None


@dataclass(frozen=True)
class Piece:
    """A piece of work whose findings are saved as soon as it is done.

    Attributes
    ----------
    data : str
        Name of the data set; empty for one that makes its own.
    name : str
        What is run, in a few words; unique among the pieces of the data set.
    run : callable
        ``run(task)`` returns findings that JSON can hold.
    size : int, default=1
        Its share of the work, for the progress bar.
    repeated : bool, default=False
        Whether its folds are drawn ``task.repeats`` times.
    published : mapping of str to value
        The printed figures of the piece, where it has some.
    drawn : bool, default=False
        Whether it is for the figures alone, and is run only when they are wanted.
    """

    data: str
    name: str
    run: Callable[[Task], dict[str, Any]]
    size: int = 1
    repeated: bool = False
    published: Mapping[str, Any] = field(default_factory=dict)
    drawn: bool = False

    def __str__(self) -> str:
        return f"{self.data}: {self.name}" if self.data else self.name


@dataclass(frozen=True)
class Table:
    """A table to print; None is an empty cell.

    Attributes
    ----------
    title : str
    columns : sequence of str
    lines : sequence of sequences of str or None
    words : int, default=1
        Number of first columns that hold words and are aligned left.
    recipes : sequence of str
        The model of each line: a column in Markdown, a list below the table in a terminal.
    notes : mapping of int to str
        Remarks on lines, by place.
    """

    title: str
    columns: Sequence[str]
    lines: Sequence[Sequence[str | None]]
    words: int = 1
    recipes: Sequence[str] = ()
    notes: Mapping[int, str] = field(default_factory=dict)

    def to_markdown(self) -> str:
        """Return the title, the table and its notes."""
        rows = [[*self.columns], *([cell or "" for cell in line] for line in self.lines)]
        if self.recipes:
            codes = ["`{}`".format(recipe.replace("|", "\\|")) for recipe in self.recipes]
            for row, recipe in zip(rows, ("recipe", *codes), strict=True):
                row.insert(self.words, recipe)
        lines = [f"| {' | '.join(row)} |" for row in rows]
        lines.insert(1, f"|{'---|' * len(rows[0])}")
        notes = [f"- {place + 1}: {note}" for place, note in self.notes.items()]
        return "\n".join([*([self.title, ""] if self.title else []), *lines, *(["", *notes] if notes else [])])


@dataclass(frozen=True)
class Study:
    """The experiments of a paper.

    Attributes
    ----------
    title : str
        The method.
    paper : str
        Its authors, and which of its tables.
    summary : str
        What is run, for lists.
    pieces : tuple of Piece
        Those of one data set stand together.
    tables : callable
        ``tables(findings)`` returns tables of the printed figures beside ours.
    remarks : tuple of str
        How to read the tables; printed below them.
    brief : callable, optional
        ``brief(found)`` describes the findings of a piece in a few words.
    figures : callable, optional
        ``figures(findings)`` describes the paper's figures, and pictures of its tables, of what was found.
    """

    title: str
    paper: str
    summary: str
    pieces: tuple[Piece, ...]
    tables: Callable[[Findings], list[Table]]
    remarks: tuple[str, ...] = ()
    brief: Callable[[Mapping[str, Any]], str] | None = None
    figures: Callable[[Findings], list[Figure]] | None = None

    @property
    def data(self) -> tuple[str, ...]:
        """The names of the data sets that the study needs, in order."""
        return tuple(dict.fromkeys(piece.data for piece in self.pieces if piece.data))
