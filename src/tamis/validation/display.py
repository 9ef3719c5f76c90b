"""Results that show themselves: as HTML in a notebook, as figures, as a page.

What is shown is made in the room of the report, which lies above the rooms of the results. So that no result imports
it, it is looked up when something is shown first, as pandas looks up its plotting backend.
"""

from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Literal

#: The module that draws results.
_VIEWS = "tamis.reporting.views"


class Displayed:
    """A result with figures, and with a summary that notebooks show."""

    def plot(self, kind: str | None = None, *, backend: Literal["plotly", "matplotlib"] = "plotly") -> Any:
        """Draw a figure of this result, as in the report.

        Parameters
        ----------
        kind : str, optional
            "error_features" (error against number of features), "stability" (the same, coloured by the stability of
            the features), "features" (how often the folds select each), "confusion", "roc", "threshold",
            "calibration", "predicted" (against true numbers), "residuals", "effects", "target", "learning" or
            "permutation", as far as this result has them; by default the first that it has. A search also has
            "projection", "redundancy", "selectors" and "stages".
        backend : {"plotly", "matplotlib"}, default="plotly"

        Returns
        -------
        plotly.graph_objects.Figure or matplotlib.figure.Figure
        """
        return import_module(_VIEWS).plot(self, kind, backend=backend)

    def _html_repr(self) -> str:
        """The summary as HTML; scikit-learn's estimators have a method of this name for notebooks."""
        return str(import_module(_VIEWS).html(self))


class Reported(Displayed):
    """A result with a report of its own."""

    def report(self, path: str | PathLike[str], *, progress: bool | None = None) -> Path:
        """Write the report of this result as one HTML file that works offline.

        Parameters
        ----------
        path : path
            The file to write.
        progress : bool, optional
            False shows no progress bar.

        Returns
        -------
        Path
            The file.
        """
        found: Path = import_module(_VIEWS).write_report(self, Path(path), progress=progress)
        return found
