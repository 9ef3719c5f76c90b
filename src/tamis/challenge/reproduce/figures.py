"""Figures 1, 2 and 4 of Lal, Chapelle and Schölkopf (2006) on the data at hand: the numbers, then one page of plots."""

import warnings
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from tamis import scores
from tamis.data.dataset import Dataset
from tamis.validation.whole import validate

#: Costs of a slack in Figure 1, and numbers of features in Figure 4. The pictures' own are not printed.
COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)
SIZES = (10, 20, 50, 100, 200, 500, 1000, 1500, 2000, 3000, 4000, 4700, 6000, 8000, 10000)

#: The number of features that the paper took from Figure 4.
CHOSEN = 4700

#: Intervals of the histogram in Figure 2.
_BINS = 50

# Okabe and Ito's blue, vermilion and grey, which all kinds of eyes tell apart.
_BLUE, _RED, _GREY = "#0072B2", "#D55E00", "#666666"
_FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"


def figure_facts(
    data: Dataset,
    *,
    costs: Sequence[float] = COSTS,
    sizes: Sequence[int] = SIZES,
    repeats: int = 1,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """The numbers behind the figures, on the train rows of `data` (all rows, when it has no official split).

    Figure 1: error of a linear SVM over 20 folds for each cost. Figure 2: Fisher score of each feature. Figure 4: error
    of a hard-margin linear SVM over 10 folds for each number of best features, ranked anew in every fold. Errors are
    shares of rows with their corrected standard errors; the BER stands beside them.
    """
    train = data if data.split is None else data.rows(data.split == "train")
    sizes = [size for size in sizes if size <= data.n_features]
    by_cost = {cost: f"rms_norm | svm(linear, C={cost:g})" for cost in costs}
    by_size = {size: f"rms_norm | fisher({size}) | svm(linear, C=inf)" for size in sizes}
    total = (20 * len(costs) + 10 * len(sizes)) * repeats
    done = 0

    def point(recipe: str, folds: int) -> dict[str, Any]:
        nonlocal done
        before = done
        shown = None if progress is None else (lambda now, _: progress(before + now, total))
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            found = validate(
                recipe,
                train,
                folds=folds,
                repeats=repeats,
                metrics=("accuracy", "ber"),
                seed=seed,
                n_jobs=n_jobs,
                progress=shown,
            )
        done += folds * repeats
        error, ber = found.estimates["accuracy"], found.estimates["ber"]
        return {
            "recipe": recipe,
            "error": 1.0 - error.mean,
            "error_se": error.se,
            "ber": ber.mean,
            "ber_se": ber.se,
            "warnings": sorted({str(w.message) for w in warned}),
        }

    each = scores.get("fisher")(train.X, train.y)
    counts, edges = np.histogram(each, bins=_BINS)
    return {
        "data": data.name,
        "rows": train.n_rows,
        "features": data.n_features,
        "repeats": repeats,
        "seed": seed,
        "figure_1": {"folds": 20, "points": [{"C": cost, **point(text, 20)} for cost, text in by_cost.items()]},
        "figure_2": {"scores": each.tolist(), "histogram": {"counts": counts.tolist(), "edges": edges.tolist()}},
        "figure_4": {
            "folds": 10,
            "chosen": CHOSEN,
            "points": [{"features": size, **point(text, 10)} for size, text in by_size.items()],
        },
    }


def error_against_cost(facts: dict[str, Any]) -> go.Figure:
    """Figure 1."""
    figure = go.Figure(_errors(facts["figure_1"]["points"], "C"))
    figure.update_xaxes(title_text="C, the cost of a slack", type="log", exponentformat="power", dtick=1)
    return _styled(_percent(figure))


def scores_of_features(facts: dict[str, Any]) -> go.Figure:
    """Figure 2: every feature's score, and how many features score how much."""
    values, histogram = facts["figure_2"]["scores"], facts["figure_2"]["histogram"]
    edges = np.array(histogram["edges"])
    figure = make_subplots(rows=2, cols=1, vertical_spacing=0.2)
    each = go.Scatter(
        x=list(range(1, len(values) + 1)),
        y=values,
        mode="markers",
        marker={"size": 3, "color": _BLUE, "opacity": 0.5},
        hovertemplate="feature %{x}<br>score %{y:.3f}<extra></extra>",
    )
    many = go.Bar(
        x=((edges[:-1] + edges[1:]) / 2).tolist(),
        y=histogram["counts"],
        width=np.diff(edges).tolist(),
        marker={"color": _BLUE, "line": {"color": "white", "width": 1}},
        hovertemplate="score near %{x:.3f}<br>%{y} features<extra></extra>",
    )
    figure.add_trace(each, row=1, col=1)
    figure.add_trace(many, row=2, col=1)
    figure.update_xaxes(title_text="feature, by its number", row=1, col=1)
    figure.update_yaxes(title_text="Fisher score", rangemode="tozero", row=1, col=1)
    figure.update_xaxes(title_text="Fisher score", row=2, col=1)
    figure.update_yaxes(title_text="features (log scale)", type="log", dtick=1, row=2, col=1)
    return _styled(figure, height=720)


def error_against_features(facts: dict[str, Any]) -> go.Figure:
    """Figure 4."""
    points, chosen = facts["figure_4"]["points"], facts["figure_4"]["chosen"]
    figure = go.Figure(_errors(points, "features"))
    figure.update_xaxes(
        title_text="number of best features (log scale)",
        type="log",
        tickvals=[10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000],
    )
    if chosen <= facts["features"]:
        top = 105 * max(point["error"] + point["error_se"] for point in points)
        mark = go.Scatter(
            x=[chosen, chosen],
            y=[0, top],
            mode="lines+text",
            line={"color": _RED, "width": 2, "dash": "dash"},
            text=["", f"the paper's choice, {chosen} "],
            textposition="middle left",
            textfont={"color": _RED},
            hoverinfo="skip",
        )
        figure.add_trace(mark)
    return _styled(_percent(figure))


def page(facts: dict[str, Any]) -> str:
    """All figures on one page that needs no other file; the drawing script is in it once."""
    name, times = escape(facts["data"]), facts["repeats"]
    drawn = f"drawn {times} times" if times > 1 else "drawn once"
    bars = "Bars are standard errors, corrected for the training rows that folds share."
    overlapping = any(point["warnings"] for point in facts["figure_4"]["points"])
    hollow = " Hollow: in some folds the classes overlap, and there is no hard margin." if overlapping else ""
    parts = [
        (
            "Figure 1: error against C",
            error_against_cost(facts),
            f"Linear SVM on all {facts['features']} features, {facts['figure_1']['folds']} folds {drawn}. {bars}",
        ),
        ("Figure 2: scores of the features", scores_of_features(facts), "Only few features score high."),
        (
            "Figure 4: error against the number of features",
            error_against_features(facts),
            f"Hard margin, features ranked anew in each of {facts['figure_4']['folds']} folds {drawn}. {bars}{hollow}",
        ),
    ]
    sections = []
    for number, (title, figure, text) in enumerate(parts):
        # A fixed name for each place, so that the same facts give the same page.
        drawing = figure.to_html(
            full_html=False,
            include_plotlyjs=number == 0,
            div_id=f"figure-{number + 1}",
            config={"displaylogo": False, "responsive": True},
        )
        sections.append(f"<section>\n<h2>{title}</h2>\n<p>{text}</p>\n{drawing}\n</section>")
    intro = (
        f"{name}, {facts['rows']} training rows; every row divided by the root mean squared length (rms_norm). "
        "After Lal, Chapelle and Schölkopf (2006), whose plotted values are not printed. Seed "
        f"{facts['seed']}."
    )
    return _PAGE.format(font=_FONT, title=f"FS + SVM on {name}", intro=intro, sections="\n".join(sections))


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 {font}; color: #222; max-width: 900px; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.6rem; }}
h2 {{ font-size: 1.2rem; margin: 2.5rem 0 0; }}
p {{ margin: 0.3rem 0; color: #444; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{intro}</p>
{sections}
</body>
</html>
"""


def _errors(points: Sequence[dict[str, Any]], along: str) -> go.Scatter:
    return go.Scatter(
        x=[point[along] for point in points],
        y=[100 * point["error"] for point in points],
        error_y={
            "type": "data",
            "array": [100 * point["error_se"] for point in points],
            "color": _GREY,
            "thickness": 1.2,
            "width": 4,
        },
        mode="lines+markers",
        line={"color": _BLUE, "width": 2},
        marker={
            "size": 9,
            "color": [_BLUE if not point["warnings"] else "white" for point in points],
            "line": {"color": _BLUE, "width": 2},
        },
        hovertemplate=f"{along} %{{x}}<br>error %{{y:.1f}} %<extra></extra>",
    )


def _percent(figure: go.Figure) -> go.Figure:
    return figure.update_yaxes(title_text="cross-validated error, %", rangemode="tozero")


def _styled(figure: go.Figure, height: int = 460) -> go.Figure:
    figure.update_layout(
        template="simple_white",
        height=height,
        showlegend=False,
        font={"family": _FONT, "size": 15, "color": "#222"},
        margin={"l": 70, "r": 20, "t": 40, "b": 60},
    )
    return figure.update_yaxes(showgrid=True, gridcolor="#e5e5e5")
