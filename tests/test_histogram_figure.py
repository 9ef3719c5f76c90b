"""The picture of a histogram: it covers the plane, answers as the model does, and says what it leaves out."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from slanted import slanted
from tamis.base.errors import TamisError
from tamis.classify import MDLHistogram
from tamis.classify.mdl_histogram.cells import Cells
from tamis.classify.mdl_histogram.columns import Axes
from tamis.classify.mdl_histogram.figure import Plane
from tamis.trees.figure import COLOURS


def areas(picture):
    """Left, right, bottom, top and colour of every rectangle."""
    found = []
    for trace in picture.data:
        if trace.fill == "toself":
            x, y = (np.array(v, dtype=float).reshape(-1, 6)[:, :5] for v in (trace.x, trace.y))
            ends = np.column_stack([x.min(1), x.max(1), y.min(1), y.max(1)])
            found += [(*one, trace.fillcolor) for one in ends.tolist()]
    return found


@pytest.mark.parametrize("degrees", [0, 30])
def test_the_picture_covers_the_plane_and_answers_as_the_model_does(degrees):
    X, y = slanted(300, degrees)
    keep = (np.abs(X[:, 0] - 0.2) > 0.15) | (X[:, 1] > 0.5)
    X, y = X[keep], y[keep]
    model = MDLHistogram().fit(X, np.array(["a", "b"])[y])
    found = areas(model.plot())
    low, high = X.min(axis=0), X.max(axis=0)
    sizes = [(right - left) * (top - bottom) for left, right, bottom, top, _ in found]
    assert sum(sizes) == pytest.approx(np.prod(high - low))
    new = np.random.default_rng(1).random((300, 2)) * (high - low) + low
    colours = {"a": set(), "b": set()}
    for (x, y), answer in zip(new, model.predict(new), strict=True):
        here = [c for left, right, bottom, top, c in found if left <= x < right and bottom <= y < top]
        assert len(here) == 1
        colours[answer] |= set(here)
    assert not colours["a"] & colours["b"]
    if degrees:
        # Where no training row was the colour is paler.
        pale = [c for left, right, _, top, c in found if left > 0.04 and right <= 0.36 and top <= 0.5]
        assert set(pale) == {"#E0EEF6"}


def test_the_picture_answers_as_the_model_does_where_values_are_missing():
    some_empty = False
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.random((120, 2))
        X = X[X.min(axis=1) < 0.5]
        y = (X[:, 0] > 0.5) + 2 * (X[:, 1] > 0.5)
        X[rng.random(X.shape) < 0.3] = np.nan
        model = MDLHistogram().fit(X, y)
        plane = Plane.of(model._cells(), [0, 1], Axes(model.low_, model.high_))
        middles = np.column_stack([plane.corners[:, :2].mean(axis=1), plane.corners[:, 2:].mean(axis=1)])
        some_empty |= bool(plane.empty.any())
        shares = plane.weight + model.alpha
        np.testing.assert_allclose(model.predict_proba(middles), shares / shares.sum(axis=1, keepdims=True))
    assert some_empty


def test_a_column_that_is_missing_everywhere_else():
    # The halved column has no row that has the other one as well.
    X = np.full((40, 2), np.nan)
    X[:30, 0], X[30:, 1] = np.arange(30), 1.0
    model = MDLHistogram().fit(X, np.arange(40) > 20)
    assert len(areas(model.plot((0, 1)))) >= 1


def test_the_picture_tells_what_it_leaves_out():
    X, y = slanted(400, 45, columns=4)
    y = y + 2 * (X[:, 2] > 0.5)
    X[:7, 1] = np.nan
    model = MDLHistogram().fit(X, y)
    assert model.used_.tolist() == [True, True, True, False]
    picture = model.plot((0, 1))
    assert picture.layout.title.text == "counted over 1 more divided columns; without 7 rows that miss a value"
    told = picture.data[-1].hovertext
    counted = Counter()
    for text in told:
        for line in text.split("<br>"):
            name, _, weight = line.partition(": ")
            if name in "0123" and "no training rows" not in text:
                counted[name] += float(weight)
    assert counted == Counter({str(c): float(k) for c, k in enumerate(np.bincount(y[7:]))})
    assert [t.name for t in picture.data if t.name] == ["0", "1", "2", "3"]
    assert [t.marker.color for t in picture.data if t.name] == list(COLOURS[:4])


def test_pictures_of_one_column_of_none_and_of_missing_values_alone():
    X, y = slanted(60, 0)
    one = MDLHistogram().fit(X[:, :1], y).plot()
    assert len(areas(one)) == 2
    assert one.layout.yaxis.visible is False
    none = MDLHistogram().fit(X, np.arange(60) % 2).plot()
    assert len(areas(none)) == 1
    X[:, 1] = np.nan
    assert len(areas(MDLHistogram().fit(X, y).plot((1, 0)))) == 2
    # Every row misses one of the two values.
    places = {0: np.array([5, -1]), 1: np.array([-1, 5])}
    cells = Cells.of([0, 1], places.__getitem__, np.array([0, 1]), np.ones(2), 2)
    plane = Plane.of(cells, [0, 1], Axes(np.zeros(2), np.full(2, 3.0)))
    assert plane.corners.tolist() == [[1.5, 3.0, 0.0, 3.0], [0.0, 1.5, 0.0, 1.5], [0.0, 1.5, 1.5, 3.0]]
    assert plane.weight.tolist() == [[1.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    assert plane.empty.all()
    assert plane.aside == 2.0


def test_names_stay_names():
    X, y = slanted(60, 0)
    model = MDLHistogram().fit(pl.DataFrame({"<b>x</b> $1$": X[:, 0], "y": X[:, 1]}), np.where(y == 1, "<i>", "&"))
    picture = model.plot()
    assert picture.layout.xaxis.title.text == "&lt;b&gt;x&lt;/b&gt; &#36;1&#36;"
    assert {t.name for t in picture.data if t.name} == {"&lt;i&gt;", "&amp;"}


@pytest.mark.parametrize("columns", [(0,), (0, 0), (0, 2), (-1, 0)])
def test_columns_that_are_not_there_are_refused(columns):
    with pytest.raises(TamisError, match="columns: takes two different numbers from 0 to 1"):
        MDLHistogram().fit(*slanted(20, 0)).plot(columns)


def test_an_unfitted_histogram_has_no_picture():
    with pytest.raises(NotFittedError):
        MDLHistogram().plot()
