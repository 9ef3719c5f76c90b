"""All figures of a report: described once from the facts, and drawn to single files for a paper or a slide."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tamis.base.errors import TamisError
from tamis.reporting.figure_description import Figure
from tamis.reporting.figures_features import chosen, redundancy, selectors
from tamis.reporting.figures_models import error_features, error_size, learning, stability, stages
from tamis.reporting.figures_numbers import effects, predicted, residuals, target
from tamis.reporting.figures_rows import (
    calibration,
    confusion,
    permutation,
    precision_recall,
    projection,
    roc,
    threshold,
)
from tamis.reporting.figures_values import heat, pairs
from tamis.reporting.matplotlib_drawing import drawn, style

#: Metadata of the files; no date, so that the same facts give the same file.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "tamis"},
    "png": {"Software": "tamis"},
    "pdf": {"CreationDate": None, "Creator": "tamis", "Producer": None},
}

FORMATS = tuple(_METADATA)

_FIGURES: tuple[Callable[[dict[str, Any]], Figure | None], ...]
_FIGURES = (target, error_size, error_features, stability, chosen, effects, redundancy, selectors)
_FIGURES += (heat, pairs, projection, predicted, residuals)
_FIGURES += (confusion, roc, precision_recall, threshold, calibration, permutation, learning, stages)


def figures(facts: dict[str, Any]) -> dict[str, Figure]:
    """Describe every figure for which there are facts, by name."""
    found = [figure for build in _FIGURES if (figure := build(facts)) is not None]
    return {figure.name: figure for figure in found}


def draw(facts: dict[str, Any], folder: Path, *, format: str = "svg") -> list[Path]:
    """Draw every figure for which there are facts to a file of its own; the same facts give the same bytes.

    Parameters
    ----------
    facts : dict
        The content of the report (:mod:`tamis.reporting.facts`).
    folder : Path
        Created when it does not exist; files of the same names are replaced.
    format : {"svg", "png", "pdf"}, default="svg"

    Returns
    -------
    list of Path
        The files: error_size, error_features, stability, features, redundancy, selectors, heat, pairs, projection,
        confusion, roc, precision_recall, threshold, calibration, permutation, learning and stages; where the target
        holds numbers target, effects, predicted and residuals, and none of those from confusion to calibration.
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
