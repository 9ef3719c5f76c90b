"""``tamis.report``: the report of a run, from its file alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from tamis.base.errors import TamisError
from tamis.engines.progress import progress_bar
from tamis.mining.run.store import Store
from tamis.reporting.comparison import comparison
from tamis.reporting.facts import VERSION
from tamis.reporting.metric_text import metric_text
from tamis.reporting.note_facts import COMMANDS, FACTS


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The report of a run.

    Attributes
    ----------
    facts : dict
        The content of the report (:mod:`tamis.reporting.facts`).
    run : Path
        The run file.
    """

    facts: dict[str, Any]
    run: Path

    def __repr__(self) -> str:
        answer = self.facts["answer"]
        mean, error = (metric_text(answer["metric"]["name"], answer["honest"][key], 4) for key in ("mean", "se"))
        estimate = f"{answer['metric']['title']} {mean} +- {error}"
        used = "" if answer["n_used"] is None else f", {answer['n_used']} of {answer['n_features']} features"
        return f"Report of {self.run}: {estimate} on unseen rows{used}; to_html, to_markdown and to_figures write it"

    def to_html(self, path: str | PathLike[str]) -> Path:
        """Write the report as one HTML file that works offline, whole or not at all."""
        from tamis.reporting.html import write_page

        with _errors_naming(self.run):
            return write_page(self.facts, Path(path))

    def to_markdown(self) -> str:
        """Return the report as text."""
        from tamis.reporting.markdown import text

        with _errors_naming(self.run):
            return text(self.facts)

    def to_figures(self, folder: str | PathLike[str], *, format: str = "svg") -> list[Path]:
        """Write every figure into a file of its own (:func:`tamis.reporting.figures.draw`)."""
        from tamis.reporting.figures import draw

        with _errors_naming(self.run):
            return draw(self.facts, Path(folder), format=format)


def report(
    run: str | PathLike[str],
    *,
    out: str | PathLike[str] | None = None,
    compare: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Report:
    """Report on a finished search, from its run file alone.

    Parameters
    ----------
    run : path
        The file in which ``tamis.mine(..., run=run)`` or ``tamis mine`` keeps the search.
    out : path, optional
        HTML file to write the report to.
    compare : path, optional
        The file of another run, shown beside this one.
    progress : bool, optional
        By default a bar is shown on a terminal and in a notebook, if it takes longer than a second; False shows none.

    Returns
    -------
    Report
        The facts, and methods that write them as a page, as text and as single figures.

    See Also
    --------
    tamis.mine : Search for a model and keep the search in a file.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["a", "b"], 30)
    >>> X = rng.normal(size=(60, 20)) + 3 * (y == "b")[:, None] * (np.arange(20) == 7)
    >>> options = {"trials": 1, "only": ["cc(1) | knn(3)"], "engine": "serial", "folds": 2, "inner_folds": 2}
    >>> with TemporaryDirectory() as folder:
    ...     run = Path(folder, "a.tamis-run")
    ...     found = tamis.mine(X, y, run=run, **options)
    ...     made = report(run)
    >>> made.facts["answer"]["recipe"] == found.recipe_, made.facts["features"]["table"]["name"][0]
    (True, 'x7')
    """
    with progress_bar("writing the report", progress) as step:
        found = Report(facts_in(Path(run)), Path(run))
        if compare is not None:
            with _errors_naming(Path(compare)):
                found.facts["comparison"] = comparison(found.facts, facts_in(Path(compare)))
        if step is not None:
            step(1, 2)
        if out is not None:
            found.to_html(out)
    return found


def facts_in(run: Path) -> dict[str, Any]:
    """The facts in a run, with the commands that were noted after the search."""
    with Store.read(run) as store:
        facts, commands = store.noted(FACTS), store.noted(COMMANDS)
    if not isinstance(facts, dict):
        raise TamisError(
            f"{run}: holds no finished search; repeat the command or the call of tamis.mine that started it, "
            "which resumes where it stopped"
        )
    if facts.get("version") != VERSION:
        raise TamisError(f"{run}: its report was made by another version of tamis; run 'tamis mine' on it again")
    if commands is not None:
        with _errors_naming(run):
            facts["made"]["command"] = commands["made"]
            facts["answer"]["commands"] = [*commands["next"], *facts["answer"]["commands"]]
    return facts


@contextmanager
def _errors_naming(run: Path) -> Iterator[None]:
    """Raise an error that names the run file when facts read from it cannot be used."""
    try:
        yield
    except (TamisError, OSError, MemoryError):
        raise
    except Exception:
        raise TamisError(f"{run}: the report in it is damaged; repeat the command that started the run") from None
