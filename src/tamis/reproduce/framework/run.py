"""A study run on the available data: its tables, and its figures."""

import json
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tamis.base.errors import DataError, TamisError
from tamis.data.sources import places
from tamis.data.write import write_text
from tamis.reproduce.framework.find import find
from tamis.reproduce.framework.pieces import Watch, run_pieces
from tamis.reproduce.framework.results import Results
from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task

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
    figures : list of str
        The files of the figures, where they were wanted: one HTML page, and its numbers as JSON.
    """

    study: str
    title: str
    tables: list[Table]
    remarks: list[str]
    pieces: list[dict[str, Any]]
    figures: list[str] = field(default_factory=list)

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
    figures: str | os.PathLike[str] | None = None,
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
    figures : path, optional
        Folder for the figures, created when it does not exist. Pieces that only figures need are run with it alone.
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
    if figures is not None:
        _prepare(name, study, Path(figures))
    pieces = _chosen(name, study, (data,) if isinstance(data, str) else data, drawn=figures is not None)
    repeated = any(piece.repeated for piece in study.pieces)
    if repeats is not None and not repeated:
        raise TamisError(f"{name} takes no repeats: it does not draw its folds anew")
    task = Task(None, seed, _REPEATS if repeats is None else repeats, n_jobs)
    file = None if results is None else Results(Path(results))
    outcomes = []
    for outcome in run_pieces(pieces, task, file, again=again, progress=progress):
        outcomes.append(outcome)
        if outcome.new and outcome.found is not None and finished is not None:
            brief = "" if study.brief is None or outcome.piece.drawn else f": {study.brief(outcome.found)}"
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
    written = [] if figures is None else _draw(name, study, found, remarks, Path(figures))
    return Reproduction(name, f"{study.title} ({study.paper})", study.tables(found), remarks, entries, written)


def draw(
    name: str,
    folder: str | os.PathLike[str],
    *,
    data: str | Collection[str] = (),
    repeats: int | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    results: str | os.PathLike[str] | None = None,
    again: bool = False,
    progress: Watch | None = None,
    finished: Callable[[str], None] | None = None,
) -> list[Path]:
    """Draw the figures of a study's paper to a folder, as one HTML page, with their numbers as JSON.

    Parameters
    ----------
    name : str
        Name of the study.
    folder : path
        Created when it does not exist.
    data, repeats, seed, n_jobs, results, again, progress, finished
        As for :func:`run`. With the `results` of a run only what it lacks is computed.

    Returns
    -------
    list of Path
        The page and the numbers.

    See Also
    --------
    tamis.reproduce.run : Reproduce the tables of a paper.

    Examples
    --------
    >>> import tamis, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print([path.name for path in tamis.reproduce.draw("binning", folder)])
    ['binning-figures.html', 'binning-figures.json']
    """
    found = run(
        name,
        data=data,
        repeats=repeats,
        seed=seed,
        n_jobs=n_jobs,
        results=results,
        again=again,
        figures=folder,
        progress=progress,
        finished=finished,
    )
    return [Path(file) for file in found.figures]


def _prepare(name: str, study: Study, folder: Path) -> None:
    """Find out before the work begins whether figures can be written."""
    if study.figures is None:
        raise TamisError(f"{name} has no figures to draw")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made a folder ({error.strerror})") from None


def _draw(name: str, study: Study, found: Findings, remarks: Sequence[str], folder: Path) -> list[str]:
    """Write the page and the numbers, and return the names of the files."""
    # Only figures need the page and its templates.
    from tamis.reporting.figures_page import figure_numbers, figures_page

    assert study.figures is not None
    figures, title = study.figures(found), f"{study.title} ({study.paper})"
    numbers = {"study": name, "title": title, "figures": figure_numbers(figures)}
    written = {
        folder / f"{name}-figures.html": figures_page(title, figures, remarks),
        folder / f"{name}-figures.json": json.dumps(numbers, indent=1, allow_nan=False),
    }
    for path, text in written.items():
        write_text(path, text)
    return list(map(str, written))


def _chosen(name: str, study: Study, data: Collection[str], *, drawn: bool) -> tuple[Piece, ...]:
    """The pieces on some data sets, by default all; those of the figures when these are `drawn`."""
    for wanted in data:
        if not study.data:
            raise TamisError(f"{name} makes its own data; got {wanted!r}")
        if wanted not in study.data:
            raise TamisError(f"{name} has nothing on {wanted!r}; it has: {', '.join(study.data)}")
    return tuple(one for one in study.pieces if (not data or one.data in data) and (drawn or not one.drawn))
