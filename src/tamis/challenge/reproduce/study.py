"""A paper whose experiments are more than one model a line: pieces of work, and the tables that their facts make."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tamis.challenge.reproduce.results import Results
from tamis.challenge.reproduce.work import Job, Outcome, Report, Watch, run_jobs
from tamis.data.dataset import Dataset

#: What the pieces found, by data set and name; a piece whose data set is not at hand is not among them.
Facts = Mapping[tuple[str, str], Mapping[str, Any]]


@dataclass(frozen=True)
class Task:
    """What a piece of work is given.

    Attributes
    ----------
    data : Dataset or None
        None for a piece that makes its own data.
    seed : int
    n_jobs : int
        Processes; the facts must not depend on it.
    report : callable
        Takes what is done and what there is to do in this piece, in the unit of :attr:`Piece.size`.
    """

    data: Dataset | None
    seed: int
    n_jobs: int
    report: Report

    @property
    def dataset(self) -> Dataset:
        """The data, of a piece that names one."""
        if self.data is None:
            raise ValueError("this piece names no data set")
        return self.data


@dataclass(frozen=True)
class Piece:
    """A piece of work whose facts are kept as soon as it is done.

    Attributes
    ----------
    data : str
        Name of the data set; empty for one that makes its own.
    name : str
        What is run, in a few words. Facts are found again by it, so that it must say what matters.
    run : callable
        ``run(task)`` gives facts that JSON can hold.
    size : int, default=1
        How much work it is, for the bar.
    """

    data: str
    name: str
    run: Callable[[Task], dict[str, Any]]
    size: int = 1


@dataclass(frozen=True)
class Sheet:
    """A table to print; None is an empty cell.

    Attributes
    ----------
    title : str
    columns : tuple of str
        The first names the lines.
    lines : list of lists of str or None
    """

    title: str
    columns: tuple[str, ...]
    lines: list[list[str | None]]


@dataclass(frozen=True)
class Study:
    """The experiments of a paper.

    Attributes
    ----------
    name : str
        What users type.
    title : str
    pieces : tuple of Piece
        Those of one data set stand together.
    sheets : callable
        ``sheets(facts)`` makes the tables of what is there.
    remarks : tuple of str
        How to read them; printed below.
    """

    name: str
    title: str
    pieces: tuple[Piece, ...]
    sheets: Callable[[Facts], list[Sheet]]
    remarks: tuple[str, ...] = ()

    @property
    def data(self) -> tuple[str, ...]:
        """The names of the data sets, in order."""
        return tuple(dict.fromkeys(piece.data for piece in self.pieces if piece.data))


def run_study(
    pieces: Sequence[Piece],
    results: Results,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    again: bool = False,
    watch: Watch[Piece] | None = None,
) -> Iterator[Outcome[Piece]]:
    """Run pieces of a study in their order; see :func:`tamis.challenge.reproduce.work.run_jobs`."""

    def run(piece: Piece, data: Dataset | None, report: Report) -> dict[str, Any]:
        return {"facts": piece.run(Task(data, seed, n_jobs, report))}

    jobs = []
    for piece in pieces:
        key = {"recipe": piece.name, "split": "", "folds": None, "repeats": 1, "seed": seed}
        jobs.append(Job(piece, piece.data, key, piece.size, partial(run, piece)))
    return run_jobs(jobs, results, again=again, watch=watch)
