"""Pictures of boosted lasso paths, of models and of the paper."""

import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import tamis
from tamis.classify import BLasso
from tamis.margins.boosted_lasso.boosting import boosted_lasso
from tamis.margins.boosted_lasso.figure import solutions
from tamis.regress import BLassoRegressor


def problem(rows=120, columns=12):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    return X, X[:, :3] @ [1.0, -1.0, 0.5] + rng.normal(size=rows)


def test_a_model_draws_the_weights_of_its_path():
    X, y = problem()
    model = BLassoRegressor(alpha=0.05).fit(X, y)
    chart = model.plot()
    entered = model.path_.entries()[0]
    assert len(chart.data) == entered.size
    # Coloured are the seven columns that enter first, and they are on top.
    named = [trace for trace in chart.data if trace.showlegend]
    assert {trace.name for trace in named} == {f"x{column}" for column in entered[:7]}
    assert list(chart.data[-len(named) :]) == named
    end = model.path_.coef(model.n_steps_[0])
    for trace in chart.data:
        assert trace.y[0] == 0
        assert trace.y[-1] == end[int(trace.name[1:])]
        assert trace.x[-1] == chart.layout.shapes[0].x0 == pytest.approx(np.abs(end).sum())


def test_each_class_has_its_path_and_an_update_begins_where_it_began():
    X, y = problem()
    classes = np.digitize(y, [-1, 1])
    chart = BLasso(alpha=0.2).fit(X, classes).plot()
    assert [one.text for one in chart.layout.annotations] == ["0", "1", "2"]
    assert len(chart.layout.shapes) == 3
    model = BLassoRegressor(alpha=0.2).partial_fit(X[:60], y[:60])
    before = np.abs(model.coef_ * X.std(axis=0)).sum() / y.std()
    chart = model.partial_fit(X[60:], y[60:]).plot()
    assert chart.data[0].x[0] == pytest.approx(before, abs=0.05 * 12)
    assert chart.data[0].x[0] > 0.5
    with pytest.raises(NotFittedError):
        BLasso().plot()


def test_names_are_no_markup_and_long_paths_are_thinned():
    pandas = pytest.importorskip("pandas")
    X, y = problem()
    names = ["<b>bold</b>", *(f"c{place}" for place in range(1, 12))]
    chart = BLassoRegressor(alpha=0.05).fit(pandas.DataFrame(X, columns=names), y).plot()
    assert "&lt;b&gt;bold&lt;/b&gt;" in {trace.name for trace in chart.data}
    path = boosted_lasso((X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std(), step=0.0005, alpha=0.01)
    drawn = solutions(path, 50)
    assert drawn.size == 50 < path.knots.size
    assert (drawn[0], drawn[-1]) == (0, len(path))
    assert set(drawn[1:]) <= set(path.knots)


def test_a_path_without_steps_is_drawn():
    assert len(BLassoRegressor().fit(np.ones((10, 2)), np.arange(10.0)).plot().data) == 0


@pytest.mark.slow
def test_the_figures_of_the_paper(shared_data, monkeypatch, tmp_path):
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    page, numbers = tamis.reproduce.draw("blasso", tmp_path, results=tmp_path / "results.json")
    assert page.read_text(encoding="utf-8").count("Figure 6: weight of x3") == 1
    names = [figure["name"] for figure in json.loads(numbers.read_text(encoding="utf-8"))["figures"]]
    assert names == [*(f"figure_{number}" for number in range(1, 7)), "differences"]
    kept = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["pieces"]
    (found,) = (piece for piece in kept if piece["piece"] == "Figures 1 to 6")
    lasso, boosted, stagewise = (np.array(one) for one in found["paths"].values())
    assert [one[-1, 10] for one in (lasso, boosted)] == [0, 0]
    assert stagewise[-1, 10] > 0.1
    # The median difference falls in proportion to the step.
    small, large = (next(one for one in found["errors"] if one["step"] == step) for step in (0.05, 5))
    assert small["median"] == pytest.approx(large["median"] / 100, rel=0.1)
    assert small["largest"] < large["largest"] / 5
    coarse, fine = (next(one for one in found["shown"] if one["step"] == step) for step in (50, 0.05))
    apart = np.interp(coarse["shares"][::-1], fine["shares"][::-1], fine["weights"][::-1]) - coarse["weights"][::-1]
    assert np.abs(apart).max() < 0.05
