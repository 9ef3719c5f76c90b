"""A study run on the available data: its tables, or its figures."""

import json
import os
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tamis.base.errors import DataError, TamisError
from tamis.data.load import load
from tamis.data.sources import places
from tamis.data.write import write_text
from tamis.reproduce.framework.find import find
from tamis.reproduce.framework.pieces import Watch, run_pieces, watched
from tamis.reproduce.framework.results import Results
from tamis.reproduce.framework.study import Piece, Study, Table, Task

#: How often folds are drawn anew by default.
_REPEATS = 3


@dataclass(frozen=True)
class Reproduction:
    """The results of a study.

    Attributes
    ----------
    study : str
        Its name.
    title : str
    tables : list of Table
        The printed figures beside ours.
    remarks : list of str
        How to read the tables.
    pieces : list of dict
        Each piece's "data", "piece" (its name), "published" and "found", which is None without the data set.
    """

    study: str
    title: str
    tables: list[Table]
    remarks: list[str]
    pieces: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)

    def to_markdown(self) -> str:
        """Return the title, the tables and the remarks."""
        remarks = "\n".join(f"- {text}" for text in self.remarks)
        return "\n\n".join([self.title, *(table.to_markdown() for table in self.tables), remarks])


def run(
    name: str,
    *,
    data: str | Collection[str] = (),
    repeats: int | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    results: str | os.PathLike[str] | None = None,
    again: bool = False,
    progress: Watch | None = None,
    finished: Callable[[str], None] | None = None,
) -> Reproduction:
    """Run a study on the available data, and show the results beside the printed figures.

    Parameters
    ----------
    name : str
        Name of the study: "ghostminer", "fs-svm", ...; :func:`~tamis.reproduce.studies` returns all.
    data : str or collection of str
        Run the pieces on this data set, or on these; by default all.
    repeats : int, optional
        How often folds are drawn anew, 3 by default; only for a study that draws them.
    seed : int, default=0
    n_jobs : int, default=1
        Processes; the result does not depend on it.
    results : path, optional
        File to which every finished piece is saved at once, so that a run that is stopped can be resumed.
    again : bool, default=False
        Run also the pieces that the file has.
    progress : callable, optional
        ``progress(title)`` is a context around each piece that is run. It gives a function of the work that is done and
        the total.
    finished : callable, optional
        Called with a line of text when a piece is done.

    Returns
    -------
    Reproduction

    See Also
    --------
    tamis.reproduce.draw : Draw the figures of a paper.

    Examples
    --------
    >>> import tamis
    >>> found = tamis.reproduce.run("binning")
    >>> for line in found.tables[0].lines[-2:]:
    ...     print(line)
    ['b, optimal bins, printed', '54.219', '44', '8', '1', '48']
    ['b, optimal bins, here', '54.219', '44', '8', '1', '48']
    """
    study = find(name)
    pieces = _chosen(name, study, (data,) if isinstance(data, str) else data)
    repeated = any(piece.repeated for piece in study.pieces)
    if repeats is not None and not repeated:
        raise TamisError(f"{name} takes no repeats: it does not draw its folds anew")
    task = Task(None, seed, _REPEATS if repeats is None else repeats, n_jobs)
    file = None if results is None else Results(Path(results))
    outcomes = []
    for outcome in run_pieces(pieces, task, file, again=again, progress=progress):
        outcomes.append(outcome)
        if outcome.new and outcome.found is not None and finished is not None:
            brief = "" if study.brief is None else f": {study.brief(outcome.found)}"
            seconds = f"{outcome.found['seconds']:.0f} s"
            finished(f"{len(outcomes)}/{len(pieces)} {outcome.piece}{brief} in {seconds}")
    found = {(one.piece.data, one.piece.name): one.found for one in outcomes if one.found is not None}
    absent = places(dict.fromkeys(one.piece.data for one in outcomes if one.found is None))
    if not found:
        raise DataError(f"not available: {absent}. Put the files into the folder that TAMIS_DATA names")
    remarks = list(study.remarks)
    if repeated:
        remarks.append(f"Folds are drawn {'once' if task.repeats == 1 else f'{task.repeats} times'}.")
    if absent:
        remarks.append(f"Not available: {absent}.")
    remarks += [f"{one.piece}: {text}" for one in outcomes if one.found for text in one.found["warnings"]]
    entries = [
        {"data": one.piece.data, "piece": one.piece.name, "published": one.piece.published, "found": one.found}
        for one in outcomes
    ]
    return Reproduction(name, f"{study.title} ({study.paper})", study.tables(found), remarks, entries)


def draw(
    name: str,
    folder: str | os.PathLike[str],
    *,
    repeats: int | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Watch | None = None,
) -> list[Path]:
    """Draw the figures of a study's paper to a folder, as one HTML page, with their numbers as JSON.

    Parameters
    ----------
    name : str
        Name of the study.
    folder : path
        Created when it does not exist.
    repeats, seed, n_jobs, progress
        As for :func:`run`.

    Returns
    -------
    list of Path
        The page and the numbers.

    See Also
    --------
    tamis.reproduce.run : Reproduce the tables of a paper.
    """
    study = find(name)
    if study.figures is None:
        raise TamisError(f"{name} has no figures to draw")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made a folder ({error.strerror})") from None
    data = load(study.figures.data)
    with watched(progress, f"figures on {data.name}") as report:
        task = Task(data, seed, _REPEATS if repeats is None else repeats, n_jobs, report)
        numbers, page = study.figures.draw(task)
    written = {Path(folder) / f"{name}-figures.html": page}
    written[Path(folder) / f"{name}-figures.json"] = json.dumps(numbers, indent=1)
    for path, text in written.items():
        write_text(path, text)
    return list(written)


def _chosen(name: str, study: Study, data: Collection[str]) -> tuple[Piece, ...]:
    """The pieces on some data sets, by default all."""
    for wanted in data:
        if not study.data:
            raise TamisError(f"{name} makes its own data; got {wanted!r}")
        if wanted not in study.data:
            raise TamisError(f"{name} has nothing on {wanted!r}; it has: {', '.join(study.data)}")
    return tuple(piece for piece in study.pieces if not data or piece.data in data)
