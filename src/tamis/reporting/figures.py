"""All figures of a report: described once from the facts, and drawn into single files for a paper or a slide."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tamis.base.errors import TamisError
from tamis.reporting.canvas import drawn, style
from tamis.reporting.figure import Figure
from tamis.reporting.figures_features import chosen, redundancy, selectors
from tamis.reporting.figures_models import error_features, stability, stages
from tamis.reporting.figures_rows import calibration, confusion, permutation, projection, roc, threshold

__all__ = ["FORMATS", "draw", "figures"]

#: What is written into the files besides the picture; no date, so that the same facts give the same file.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "tamis"},
    "png": {"Software": "tamis"},
    "pdf": {"CreationDate": None, "Creator": "tamis", "Producer": None},
}

FORMATS = tuple(_METADATA)

_FIGURES: tuple[Callable[[dict[str, Any]], Figure | None], ...] = (
    error_features,
    stability,
    chosen,
    redundancy,
    selectors,
    projection,
    confusion,
    roc,
    threshold,
    calibration,
    permutation,
    stages,
)


def figures(facts: dict[str, Any]) -> dict[str, Figure]:
    """Describe every figure for which there are facts, by name."""
    found = [figure for build in _FIGURES if (figure := build(facts)) is not None]
    return {figure.name: figure for figure in found}


def draw(facts: dict[str, Any], folder: Path, *, format: str = "svg") -> list[Path]:
    """Draw every figure for which there are facts, each into a file of its own.

    The files are called error_features, stability, features, redundancy, selectors, projection, confusion, roc,
    threshold, calibration, permutation and stages. The same facts give the same bytes.

    Parameters
    ----------
    facts : dict
        As :mod:`tamis.reporting.facts` makes it. Panels that are None are not drawn.
    folder : Path
        Made when it does not exist; files of the same names are replaced.
    format : {"svg", "png", "pdf"}, default="svg"

    Returns
    -------
    list of Path
        The files that were written.
    """
    if format not in FORMATS:
        raise TamisError(f"format must be one of {', '.join(FORMATS)}; got {format!r}")
    if find_spec("matplotlib") is None:
        raise TamisError("figures need the package matplotlib: pip install tamis[figures]")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with style():
        for name, figure in figures(facts).items():
            written.append(folder / f"{name}.{format}")
            drawn(figure).savefig(written[-1], format=format, metadata=_METADATA[format])
    return written
