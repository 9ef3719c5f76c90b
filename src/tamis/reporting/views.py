"""What results show of themselves (:mod:`tamis.validation.display`): a summary, a figure, a report."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from tamis.base.errors import TamisError
from tamis.engines.progress import progress_bar
from tamis.mining.mined import Mined
from tamis.reporting.facts import validated_facts
from tamis.reporting.figure_description import Figure
from tamis.reporting.figures import figures
from tamis.reporting.figures_series import choice_figures
from tamis.reporting.note_facts import as_named
from tamis.reporting.result_facts import result_facts
from tamis.reporting.run_report import facts_in
from tamis.reporting.series_page import write_choice
from tamis.reporting.snippet import snippet
from tamis.series.choice import VariableChoice
from tamis.validation.result import Validation

#: Figures of a search that need its data or its run, and those of them that numbers have besides.
_OF_SEARCH, _OF_NUMBERS = ("projection", "redundancy", "selectors", "stages"), ("target", "effects")

#: The figures by how much they tell of a result, the most useful first.
_FIRST: tuple[str, ...] = ("error_variables",)
_FIRST += ("error_features", "learning", "permutation", "roc", "predicted", "confusion", "features")


def html(result: Any) -> str:
    """The summary of a result as HTML."""
    return snippet(result)


def plot(result: Any, kind: str | None = None, *, backend: str = "plotly") -> Any:
    """A figure of a result (:meth:`tamis.validation.display.Displayed.plot`)."""
    if backend not in ("plotly", "matplotlib"):
        raise TamisError(f"backend must be plotly or matplotlib; got {backend!r}")
    if isinstance(result, Mined):
        check_is_fitted(result)
    figure = _figure(result, kind)
    if backend == "plotly":
        from tamis.reporting.plotly_figure import plotly_figure

        return plotly_figure(figure)
    if find_spec("matplotlib") is None:
        raise TamisError("this backend needs the package matplotlib: pip install tamis[figures]")
    from tamis.reporting.matplotlib_drawing import drawn, framed, style

    with style():
        return framed(drawn(figure))


def _figure(result: Any, kind: str | None) -> Figure:
    found = choice_figures(result) if isinstance(result, VariableChoice) else figures(result_facts(result))
    more: list[str] = []
    if isinstance(result, Mined):
        more += [*_OF_SEARCH, *(_OF_NUMBERS if result.validation_.task == "regress" else ())]
    if kind is None:
        kind = next((name for name in _FIRST if name in found), None)
        if kind is None:
            raise TamisError("there is nothing to draw of this result")
    if kind in more and kind not in found:
        found = figures(_search_facts(result))
    if kind not in found:
        raise TamisError(f"kind must be one of {', '.join(dict.fromkeys([*found, *more]))} here; got {kind!r}")
    return found[kind]


def write_report(result: Any, path: Path, *, progress: bool | None = None) -> Path:
    """Write the page of a result (:meth:`tamis.validation.display.Reported.report`)."""
    from tamis.reporting.html import write_page

    if isinstance(result, VariableChoice):
        return write_choice(result, path)
    if isinstance(result, Mined):
        check_is_fitted(result)
    with progress_bar("writing the report", progress) as step:
        facts = _search_facts(result) if isinstance(result, Mined) else _validation_facts(result)
        if step is not None:
            step(1, 2)
        return write_page(facts, path)


def _search_facts(found: Mined) -> dict[str, Any]:
    """The facts of a search, which it keeps itself or in its run."""
    run = found.run_.path
    if found._notes is not None:
        facts: dict[str, Any] = found._notes.facts(found)
        return facts
    if run is None or not Path(run).exists():
        raise TamisError(
            "the search is over and was not kept, so that it has no report; give tamis.mine a run file, run='NAME'"
        )
    return facts_in(Path(run))


def _validation_facts(found: Validation) -> dict[str, Any]:
    if found.source is None:
        raise TamisError("the data of this validation is not known any more, so that it has no report; validate again")
    return validated_facts(found, as_named(found.source))
