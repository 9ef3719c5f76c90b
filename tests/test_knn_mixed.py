"""Nearest neighbours of rows with symbols, against a plain double loop over rows and columns."""

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from tamis.base.errors import DataError, TamisError
from tamis.base.seeds import generator
from tamis.classify import KNN
from tamis.data import load
from tamis.neighbours.mixed_space import MixedSpace
from tamis.neighbours.nearest import nearest

METRICS = [("minkowski", 1.0), ("minkowski", 2.0), ("minkowski", 3.0), ("chebyshev", 2.0)]
NAMES = [f"{metric}-{alpha:g}" for metric, alpha in METRICS]


def symbol_difference(a, b, column, y, symbols, alpha) -> float:
    """How far two symbols are apart; a symbol without training rows has the shares of all rows."""
    if symbols == "overlap":
        return float(a != b)
    classes, shares = sorted(set(y)), []
    for symbol in (a, b):
        labels = Counter(label for value, label in zip(column, y, strict=True) if value == symbol) or Counter(y)
        shares.append([labels[c] / labels.total() for c in classes])
    gaps = [abs(p - q) for p, q in zip(*shares, strict=True)]
    return max(gaps) if alpha == np.inf else (sum(gap**alpha for gap in gaps) / 2) ** (1 / alpha)


def distance(a, b, rows, y, symbols, metric, alpha) -> float:
    """The heterogeneous distance of two rows, from its definition."""
    alpha = np.inf if metric == "chebyshev" else alpha
    parts = []
    for j, (u, v) in enumerate(zip(a, b, strict=True)):
        column = [row[j] for row in rows]
        if isinstance(u, str):
            parts.append(symbol_difference(u, v, column, y, symbols, alpha))
        else:
            parts.append(abs(u - v) / ((max(column) - min(column)) or 1.0))
    return max(parts) if alpha == np.inf else sum(part**alpha for part in parts) ** (1 / alpha)


def probabilities(rows, y, test, k, symbols, metric, alpha) -> np.ndarray:
    """Share of each class among the k nearest, the earlier of equals first."""
    classes, found = sorted(set(y)), []
    for a in test:
        far = [round(distance(a, b, rows, y, symbols, metric, alpha), 9) for b in rows]
        votes = Counter(y[i] for i in sorted(range(len(rows)), key=lambda i: (far[i], i))[:k])
        found.append([votes[c] / k for c in classes])
    return np.array(found)


def problem(n_classes, n_train=60, n_test=25, seed=0):
    """Rows of two numbers and two symbols, of which the second has a level that training rows lack."""
    rng = np.random.default_rng(seed)
    n = n_train + n_test
    y = rng.integers(0, n_classes, n)
    colour = np.array(["red", "green", "blue", "grey"])[np.where(rng.random(n) < 0.6, y, rng.integers(0, 4, n))]
    shape = rng.choice(["round", "square"], n)
    shape[n_train::5] = "oval"
    numbers = np.column_stack([y + rng.normal(size=n), 100 * rng.normal(size=n)]).round(2)
    rows = [(float(u), str(c), float(v), str(s)) for (u, v), c, s in zip(numbers, colour, shape, strict=True)]
    labels = [f"class {code}" for code in y]
    return rows[:n_train], labels[:n_train], rows[n_train:], labels[n_train:]


def table(rows) -> np.ndarray:
    return np.array(rows, dtype=object)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("symbols", ["vdm", "overlap"])
@pytest.mark.parametrize(("metric", "alpha"), METRICS, ids=NAMES)
def test_votes_are_those_of_a_double_loop(metric, alpha, symbols, n_classes) -> None:
    rows, y, test, _ = problem(n_classes)
    for k in (1, 7):
        model = KNN(k, metric=metric, alpha=alpha, symbols=symbols).fit(table(rows), y)
        expected = probabilities(rows, y, test, k, symbols, metric, alpha)
        np.testing.assert_allclose(model.predict_proba(table(test)), expected, rtol=1e-12)
    assert np.ptp(expected, axis=0).max() > 0.5


symbol, number = st.sampled_from(["a", "b", "c"]), st.sampled_from([0.0, 0.1, 0.2, 0.3])
row = st.tuples(symbol, number, symbol)


@given(st.data(), st.sampled_from(METRICS), st.sampled_from(["vdm", "overlap"]))
def test_equals_stay_in_the_order_of_rows(data, measure, symbols) -> None:
    metric, alpha = measure
    rows = data.draw(st.lists(row, min_size=2, max_size=15))
    test = data.draw(st.lists(row, min_size=1, max_size=4))
    y = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)).filter(lambda y: len(set(y)) > 1))
    k = data.draw(st.integers(1, len(rows)))
    model = KNN(k, metric=metric, alpha=alpha, symbols=symbols).fit(table(rows), y)
    expected = probabilities(rows, y, test, k, symbols, metric, alpha)
    np.testing.assert_allclose(model.predict_proba(table(test)), expected, rtol=1e-12)


@pytest.mark.parametrize("symbols", ["vdm", "overlap"])
def test_frames_of_every_kind_give_the_same(symbols) -> None:
    rows, y, test, _ = problem(3)
    expected = KNN(symbols=symbols).fit(table(rows), y).predict_proba(table(test))
    names = ["u", "colour", "v", "shape"]

    def forms(rows):
        polars = pl.DataFrame(rows, schema=names, orient="row")
        pandas = pd.DataFrame(rows, columns=names)
        yield from (polars, polars.with_columns(pl.col(pl.String).cast(pl.Categorical)))
        yield from (pandas.astype({"colour": d, "shape": d}) for d in (object, "str", "category"))
        yield [list(row) for row in rows]

    for train, after in zip(forms(rows), forms(test), strict=True):
        model = KNN(symbols=symbols).fit(train, y)
        np.testing.assert_array_equal(model.predict_proba(after), expected)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(after), expected)
        assert model.nominal_.tolist() == [False, True, False, True]
        assert model.levels_[3].tolist() == ["round", "square"]


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0, 7.0, np.inf])
@pytest.mark.parametrize("symbols", ["vdm", "overlap"])
def test_a_symbol_counts_at_most_as_much_as_a_number(symbols, alpha) -> None:
    # A symbol that tells the class, a number, a symbol that tells nothing; six rows of three classes.
    X = np.column_stack([[0, 0, 1, 1, 2, 2], [0, 3, 4, 5, 6, 10], [0, 1, 0, 1, 0, 1]]).astype(float)
    y = np.array([0, 0, 1, 1, 2, 2])
    space = MixedSpace.of(X, y, {0: 3, 2: 2}, symbols=symbols, alpha=alpha)

    def apart(a, b) -> float:
        points = space.points(np.array([a, b], dtype=float))
        gap = np.subtract(*(points.toarray() if sp.issparse(points) else points))
        return float(np.linalg.norm(gap, alpha))

    assert apart([0, 0, 0], [0, 10, 0]) == pytest.approx(1, rel=1e-14)
    for other in ([1, 0, 0], [2, 0, 0]):
        assert apart([0, 0, 0], other) == pytest.approx(1, rel=1e-14)
    nothing_told = apart([0, 0, 0], [0, 0, 1])
    assert nothing_told == pytest.approx(0 if symbols == "vdm" else 1, abs=1e-14)
    for known in range(3):
        unseen = apart([-1, 0, 0], [known, 0, 0])
        thirds = [2 / 3, 1 / 3, 1 / 3]
        to_overall = max(thirds) if alpha == np.inf else (sum(t**alpha for t in thirds) / 2) ** (1 / alpha)
        assert unseen == pytest.approx(to_overall if symbols == "vdm" else 1, rel=1e-14)


@pytest.mark.parametrize("symbols", ["vdm", "overlap"])
@pytest.mark.parametrize("seed", [0, 1])
def test_auto_learns_symbols_from_the_training_part_of_each_fold(symbols, seed) -> None:
    rows, y, _, _ = problem(3, n_train=80)
    X, y = table(rows), np.array(y)
    model = KNN("auto", max_neighbors=6, cv=4, symbols=symbols, random_state=seed).fit(X, y)
    splitter = StratifiedKFold(4, shuffle=True, random_state=int(generator(seed).integers(2**31)))
    expected = [
        [KNN(k, symbols=symbols).fit(X[a], y[a]).score(X[b], y[b]) for k in range(1, 7)]
        for a, b in splitter.split(X, y)
    ]
    np.testing.assert_allclose(model.cv_accuracy_, np.mean(expected, axis=0), rtol=1e-12)


def test_auto_sees_no_class_of_a_row_through_its_symbol() -> None:
    # A name of its own for every row: with shares learnt from all rows it would tell the class.
    n = 60
    X = np.array([[f"name {i}"] for i in range(n)], dtype=object)
    y = generator(3).permutation(np.arange(n) % 2)
    model = KNN("auto", max_neighbors=5, random_state=0).fit(X, y)
    assert model.score(X, y) == 1
    assert model.cv_accuracy_.max() < 0.7


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array, pl.from_numpy, pd.DataFrame])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("metric", "alpha"), [*METRICS, ("canberra", 2.0)])
def test_numbers_alone_are_not_scaled(metric, alpha, dtype, form) -> None:
    rng = np.random.default_rng(1)
    Z, X = ((rng.normal(size=(n, 4)) * [1, 10, 100, 1000]).astype(dtype) for n in (50, 20))
    y = rng.integers(0, 3, 50)
    model = KNN(4, metric=metric, alpha=alpha).fit(form(Z), y)
    votes = y[nearest(X, Z, 4, metric=metric, alpha=alpha)]
    expected = np.stack([(votes == c).mean(axis=1) for c in range(3)], axis=1)
    np.testing.assert_array_equal(model.predict_proba(form(X)), expected)


@pytest.mark.parametrize("symbols", ["vdm", "overlap"])
def test_a_constant_number_counts_as_it_is(symbols) -> None:
    # Half a unit from the constant is less than a symbol's difference of 1; two units are more.
    rows, y = [("a", 5.0, 0.0), ("a", 5.0, 0.0), ("b", 5.0, 1.0)], [0, 0, 1]
    test = [("a", 5.5, 0.0), ("b", 3.0, 0.2), ("a", 7.0, 0.9)]
    space = MixedSpace.of(np.array([[0, 5.0, 0.0], [1, 5.0, 1.0]]), np.array([0, 1]), {0: 2}, symbols="vdm", alpha=2)
    assert space.points(np.array([[0, 7.0, 0.5]]))[0, :2].tolist() == [7.0, 0.5]
    found = KNN(1, symbols=symbols).fit(table(rows), y).predict_proba(table(test))
    np.testing.assert_array_equal(found, probabilities(rows, y, test, 1, symbols, "minkowski", 2.0))


def test_constant_and_huge_numbers_beside_symbols() -> None:
    X = np.array([["a", 5.0, 1.7e308], ["b", 5.0, -1.7e308], ["b", 5.0, 1.7e308]], dtype=object)
    for symbols in ("vdm", "overlap"):
        model = KNN(1, symbols=symbols).fit(X, ["x", "y", "z"])
        assert model.predict(X).tolist() == ["x", "y", "z"]
        tiny = np.array([["a", 0.0], ["b", 1e-300]], dtype=object)
        with pytest.raises(TamisError, match="overflow"):
            KNN(1, symbols=symbols).fit(tiny, [0, 1]).predict(np.array([["a", 1e200]], dtype=object))


def test_many_symbols_do_not_fill_the_memory() -> None:
    n = 20_000
    X = np.array([[f"name {i}", float(i % 7)] for i in range(n)], dtype=object)
    model = KNN(1, symbols="overlap").fit(X, np.arange(n) % 2)
    assert model.predict(X[-20:]).tolist() == [0, 1] * 10


def test_bad_input() -> None:
    rows, y, _, _ = problem(2)
    with pytest.raises(ValueError, match="'symbols'"):
        KNN(symbols="hamming").fit(table(rows), y)
    with pytest.raises(TamisError, match='metric="canberra" does not take nominal columns; put encode in front'):
        KNN(metric="canberra").fit(table(rows), y)
    holes = table(rows)
    holes[3, 1] = None
    with pytest.raises(DataError, match="knn: column 'x1' has missing values; put impute in front of knn"):
        KNN().fit(holes, y)
    with pytest.raises(DataError, match="knn: column 'x1' has missing values"):
        KNN().fit(table(rows), y).predict(holes)
    with pytest.raises(DataError, match="knn: a sparse matrix cannot hold"):
        KNN().fit(table(rows), y).predict(sp.csr_array((2, 4)))


@pytest.mark.parametrize("symbols", ["vdm", "overlap"])
def test_a_real_mixed_table_against_a_double_loop(shared_data, symbols) -> None:
    data = load(str(shared_data / "uci" / "credit.g.arff.gz"))
    assert 0 < data.nominal.sum() < data.n_features
    rows, y = [tuple(row) for row in data.X.rows()], data.y.tolist()
    model = KNN(3, symbols=symbols).fit(data.X[:150], y[:150])
    expected = probabilities(rows[:150], y[:150], rows[150:160], 3, symbols, "minkowski", 2.0)
    np.testing.assert_allclose(model.predict_proba(data.X[150:160]), expected, rtol=1e-12)
