"""Figures 1, 2 and 4 of Lal, Chapelle and Schölkopf (2006) on ARCENE: the numbers, then one page of plots."""

import warnings
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from tamis import scores
from tamis.data.dataset import Dataset
from tamis.reproduce.framework.figure_page import figure_page
from tamis.reproduce.framework.study import Task
from tamis.validation.whole import validate

#: Costs of a slack in Figure 1, and numbers of features in Figure 4; those of the paper are not printed.
COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)
SIZES = (10, 20, 50, 100, 200, 500, 1000, 1500, 2000, 3000, 4000, 4700, 6000, 8000, 10000)

#: The number of features that the paper took from Figure 4.
CHOSEN = 4700

#: Intervals of the histogram in Figure 2.
_BINS = 50

# Okabe and Ito's blue, vermilion and grey, which colour-blind readers can distinguish.
_BLUE, _RED, _GREY = "#0072B2", "#D55E00", "#666666"
_FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"


def measure(task: Task, costs: Sequence[float] = COSTS, sizes: Sequence[int] = SIZES) -> dict[str, Any]:
    """Return the numbers behind the figures, on the train rows (all rows, when there is no official split).

    Figure 1: error of a linear SVM over 20 folds for each cost. Figure 2: Fisher score of each feature. Figure 4: error
    of a hard-margin linear SVM over 10 folds for each number of best features, ranked anew in every fold. Errors are
    shares of rows with their corrected standard errors; the BER stands beside them.
    """
    data: Dataset = task.data
    train = data if data.split is None else data.rows(data.split == "train")
    sizes = [size for size in sizes if size <= data.n_features]
    by_cost = {cost: f"rms_norm | svm(linear, C={cost:g})" for cost in costs}
    by_size = {size: f"rms_norm | fisher({size}) | svm(linear, C=inf)" for size in sizes}
    total = (20 * len(costs) + 10 * len(sizes)) * task.repeats
    done = 0

    def point(recipe: str, folds: int) -> dict[str, Any]:
        nonlocal done
        before = done
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            found = validate(
                recipe,
                train,
                folds=folds,
                repeats=task.repeats,
                metrics=("accuracy", "ber"),
                seed=task.seed,
                n_jobs=task.n_jobs,
                progress=lambda now, _: task.progress(before + now, total),
            )
        done += folds * task.repeats
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
        "repeats": task.repeats,
        "seed": task.seed,
        "figure_1": {"folds": 20, "points": [{"C": cost, **point(text, 20)} for cost, text in by_cost.items()]},
        "figure_2": {"scores": each.tolist(), "histogram": {"counts": counts.tolist(), "edges": edges.tolist()}},
        "figure_4": {"folds": 10, "points": [{"features": size, **point(text, 10)} for size, text in by_size.items()]},
    }


def page(numbers: dict[str, Any]) -> str:
    """Return a page of all figures that needs no other file; the same numbers give the same page."""
    return figure_page(draw(numbers))


def draw(numbers: dict[str, Any]) -> go.Figure:
    """Draw Figure 1, the two halves of Figure 2 and Figure 4, one below the other."""
    points, scored = numbers["figure_4"]["points"], numbers["figure_2"]
    times = "once" if numbers["repeats"] == 1 else f"{numbers['repeats']} times"
    hollow = "; hollow: in some folds the classes overlap, and there is no hard margin"
    titles = (
        ("Figure 1: error against C", f"linear SVM on all {numbers['features']} features, 20 folds drawn {times}"),
        ("Figure 2: scores of the features", "only few features score high"),
        ("", ""),
        (
            "Figure 4: error against the number of features",
            f"hard margin, features ranked in each of 10 folds drawn {times}"
            + (hollow if any(point["warnings"] for point in points) else ""),
        ),
    )
    subplot_titles = [f"{title}<br><sup>{text}</sup>" for title, text in titles]
    figure = make_subplots(rows=4, cols=1, subplot_titles=subplot_titles, vertical_spacing=0.09)
    edges = np.array(scored["histogram"]["edges"])
    each = go.Scatter(
        x=list(range(1, len(scored["scores"]) + 1)),
        y=scored["scores"],
        mode="markers",
        marker={"size": 3, "color": _BLUE, "opacity": 0.5},
        hovertemplate="feature %{x}<br>score %{y:.3f}<extra></extra>",
    )
    many = go.Bar(
        x=((edges[:-1] + edges[1:]) / 2).tolist(),
        y=scored["histogram"]["counts"],
        width=np.diff(edges).tolist(),
        marker={"color": _BLUE, "line": {"color": "white", "width": 1}},
        hovertemplate="score near %{x:.3f}<br>%{y} features<extra></extra>",
    )
    traces = [_errors(numbers["figure_1"]["points"], "C"), each, many, _errors(points, "features")]
    figure.add_traces(traces, rows=[1, 2, 3, 4], cols=1)
    if numbers["features"] >= CHOSEN:
        choice = go.Scatter(
            x=[CHOSEN, CHOSEN],
            y=[0, 105 * max(point["error"] + point["error_se"] for point in points)],
            mode="lines+text",
            line={"color": _RED, "width": 2, "dash": "dash"},
            text=["", f"the paper's choice, {CHOSEN} "],
            textposition="middle left",
            textfont={"color": _RED},
            hoverinfo="skip",
        )
        figure.add_trace(choice, row=4, col=1)
    figure.update_xaxes(title_text="C, the cost of a slack", type="log", exponentformat="power", dtick=1, row=1)
    figure.update_xaxes(title_text="feature, by its number", row=2)
    figure.update_xaxes(title_text="Fisher score", row=3)
    sizes = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000]
    figure.update_xaxes(title_text="number of best features (log scale)", type="log", tickvals=sizes, row=4)
    figure.update_yaxes(showgrid=True, gridcolor="#e5e5e5", title_text="cross-validated error, %", rangemode="tozero")
    figure.update_yaxes(title_text="Fisher score", row=2)
    figure.update_yaxes(title_text="features (log scale)", type="log", dtick=1, row=3)
    intro = (
        f"{numbers['rows']} training rows divided by the root mean squared length (rms_norm); seed {numbers['seed']}."
        "<br>After Lal, Chapelle and Schölkopf (2006), whose plotted values are not printed."
        "<br>Bars are standard errors, corrected for the training rows that folds share."
    )
    return figure.update_layout(
        title={"text": f"FS + SVM on {escape(numbers['data'])}<br><sup>{intro}</sup>", "y": 0.985, "yanchor": "top"},
        template="simple_white",
        height=1900,
        showlegend=False,
        font={"family": _FONT, "size": 15, "color": "#222"},
        margin={"l": 70, "r": 20, "t": 190, "b": 60},
    )


def _errors(points: Sequence[dict[str, Any]], along: str) -> go.Scatter:
    bars = {"type": "data", "array": [100 * point["error_se"] for point in points], "color": _GREY, "thickness": 1.2}
    colors = ["white" if point["warnings"] else _BLUE for point in points]
    return go.Scatter(
        x=[point[along] for point in points],
        y=[100 * point["error"] for point in points],
        error_y=bars | {"width": 4},
        mode="lines+markers",
        line={"color": _BLUE, "width": 2},
        marker={"size": 9, "color": colors, "line": {"color": _BLUE, "width": 2}},
        hovertemplate=f"{along} %{{x}}<br>error %{{y:.1f}} %<extra></extra>",
    )
