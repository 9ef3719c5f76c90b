"""The facts of a run as single figures, for a paper or a slide."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.base.errors import TamisError
from tamis.reporting.canvas import style
from tamis.reporting.figures_features import chosen, redundancy, selectors
from tamis.reporting.figures_models import error_features, stages
from tamis.reporting.figures_rows import calibration, confusion, permutation, projection, roc, threshold

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "draw"]

#: What is written into the files besides the picture; no date, so that the same facts give the same file.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "tamis"},
    "png": {"Software": "tamis"},
    "pdf": {"CreationDate": None, "Creator": "tamis", "Producer": None},
}

FORMATS = tuple(_METADATA)

_FIGURES: dict[str, Callable[[dict[str, Any]], "Figure | None"]] = {
    "error_features": error_features,
    "features": chosen,
    "redundancy": redundancy,
    "selectors": selectors,
    "projection": projection,
    "confusion": confusion,
    "roc": roc,
    "threshold": threshold,
    "calibration": calibration,
    "permutation": permutation,
    "stages": stages,
}


def draw(facts: dict[str, Any], folder: Path, *, format: str = "svg") -> list[Path]:
    """Draw every panel for which there are facts, each into a file of its own.

    The files are called error_features, features, redundancy, selectors, projection, confusion, roc, threshold,
    calibration, permutation and stages. The same facts give the same bytes.

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
        for name, drawn in _FIGURES.items():
            figure = drawn(facts)
            if figure is not None:
                written.append(folder / f"{name}.{format}")
                figure.savefig(written[-1], format=format, metadata=_METADATA[format])
    return written
