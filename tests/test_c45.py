"""C4.5 against a direct implementation of Quinlan's rules, on real tables and small ones, and what must hold of it."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import c45_oracle
from tamis import load
from tamis.base.shared_fit import Together
from tamis.classify import C45
from tamis.classify.c45.prune import estimated_errors
from tamis.kernels.branches import ALL, deal_columns, subtree_errors
from tamis.kernels.gain_ratio import cut_gains, level_gains
from tamis.kernels.tree import csr_shares, dense_shares
from tamis.trees.gain_ratio import times_log_table

GOLF = pl.DataFrame(
    {
        "outlook": ["sunny"] * 5 + ["overcast"] * 4 + ["rain"] * 5,
        "temperature": [75, 80, 85, 72, 69, 72, 83, 64, 81, 71, 65, 75, 68, 70],
        "humidity": [70, 90, 85, 95, 70, 90, 78, 65, 75, 80, 70, 80, 80, 96],
        "windy": ["true", "true", *["false"] * 3, "true", "false", "true", "false", "true", "true", *["false"] * 3],
    }
)
PLAY = np.array([*["play", "no", "no", "no", "play"], *["play"] * 4, *["no", "no", "play", "play", "play"]])

#: Real tables: numbers, names, both, with and without missing values, two and many classes.
TABLES = (
    *("audiology", "autos", "breast.cancer", "credit.a", "glass", "heart.c", "hepatitis", "iris", "kr.vs.kp", "labor"),
    *("lymph", "primary.tumor", "soybean", "vote", "zoo"),
)
SLOW = {"audiology", "autos", "credit.a", "kr.vs.kp", "soybean"}


def cases(frame, codes, weight=None):
    """Rows as the oracle takes them."""
    rows = [tuple(None if v is None or v != v else v for v in row) for row in frame.rows()]
    weight = np.ones(len(rows)) if weight is None else weight
    return [(float(w), row, int(c)) for w, row, c in zip(weight, rows, codes, strict=True)]


def frame_of(X):
    return (
        X if isinstance(X, pl.DataFrame) else pl.DataFrame(np.asarray(X), schema=[f"x{j}" for j in range(X.shape[1])])
    )


def oracle_of(model, frame, **settings):
    nominal = [dtype == pl.String for dtype in frame.dtypes]
    least = model.min_samples_leaf
    return c45_oracle.C45(len(model.classes_), nominal, least, model.confidence, model.subtree_raising, **settings)


def unfolded(model, node=0):
    """The fitted binary tree as the oracle's dicts."""
    tree = model.tree_
    weight, feature = tree.weight[node].tolist(), int(tree.feature[node])
    if feature < 0:
        return {"weight": weight}
    if not np.isnan(tree.split[node]):
        below = {"<=": unfolded(model, tree.left[node]), ">": unfolded(model, tree.right[node])}
        return {"weight": weight, "tests": feature, "threshold": model.splits_[node], "branches": below}
    levels, branches = model.levels_[feature], {}
    while tree.feature[node] == feature:
        inside = tree.inside[tree.subset[node] : tree.subset[node + 1]]
        branches |= {level: unfolded(model, tree.left[node]) for level in levels[~inside]}
        node = tree.right[node]
    (last,) = set(levels) - set(branches)
    return {"weight": weight, "tests": feature, "branches": {**branches, last: unfolded(model, node)}}


def assert_same_tree(found, expected):
    np.testing.assert_allclose(found["weight"], expected["weight"], rtol=1e-9, atol=1e-9)
    assert found.get("tests") == expected.get("tests")
    assert found.get("threshold") == expected.get("threshold")
    if "tests" in found:
        assert set(found["branches"]) == set(expected["branches"])
        for way, below in found["branches"].items():
            assert_same_tree(below, expected["branches"][way])


def size(tree):
    return 1 + sum(size(below) for below in tree.get("branches", {}).values())


def compare(X, y, weight=None, **settings):
    """Fit both, whole and pruned, and compare trees and probabilities; returns both fitted trees as dicts."""
    frame = frame_of(X)
    full = C45(prune=False, **settings).fit(X, y, weight)
    pruned = C45(**settings).fit(X, y, weight)
    rows = cases(frame, np.searchsorted(full.classes_, y), weight)
    oracle = oracle_of(pruned, frame)
    grown = oracle.grow(rows)
    found = unfolded(full), unfolded(pruned)
    for model, tree, expected in zip((full, pruned), found, (grown, oracle.prune(grown, rows)), strict=True):
        assert_same_tree(tree, expected)
        shares = [oracle.shares(expected, values) for _, values, _ in rows]
        np.testing.assert_allclose(model.predict_proba(X), shares, rtol=1e-9, atol=1e-9)
    return found


# The direct implementation


def test_golf_is_the_tree_of_the_book():
    found, pruned = compare(GOLF, PLAY)
    assert found["tests"] == 0
    sunny, rain = found["branches"]["sunny"], found["branches"]["rain"]
    assert (sunny["tests"], sunny["threshold"]) == (2, 75)
    assert rain["tests"] == 3
    assert found["branches"]["overcast"] == {"weight": [0, 4]}
    assert_same_tree(pruned, found)


def test_golf_with_a_missing_outlook_is_the_tree_of_the_book():
    """Quinlan 1993, section 3.2: the case of overcast, 72, 90 and true has an unknown outlook."""
    frame = GOLF.with_columns(outlook=pl.Series([*GOLF["outlook"][:5], None, *GOLF["outlook"][6:]]))
    found, _ = compare(frame, PLAY)
    assert found["tests"] == 0
    np.testing.assert_allclose(sum(found["branches"]["sunny"]["weight"]), 5 + 5 / 13)
    np.testing.assert_allclose(found["branches"]["overcast"]["weight"], [0, 3 + 3 / 13])
    # A sunny day of unknown humidity: the book has "don't play" at 3.4/5.4 of the branch of high humidity.
    model = C45(prune=False).fit(frame, PLAY)
    case = pl.DataFrame({"outlook": ["sunny"], "temperature": [70], "humidity": [None], "windy": ["false"]})
    high = 3 + 5 / 13
    expected = 2 / (2 + high) * 0 + high / (2 + high) * (3 / high)
    np.testing.assert_allclose(model.predict_proba(case)[0, 0], expected)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in TABLES]
)
def test_real_tables_give_the_trees_of_the_direct_implementation(shared_data, name):
    data = load(str(shared_data / "uci" / f"{name}.arff.gz"))
    found, pruned = compare(data.X, data.y)
    assert size(pruned) <= size(found)
    compare(data.X, data.y, subtree_raising=False, confidence=0.1, min_samples_leaf=5)


@pytest.mark.parametrize(("n", "e", "rate"), [(6, 0, 0.206), (9, 0, 0.143), (1, 0, 0.750), (16, 1, 0.157)])
def test_estimated_error_rates_are_those_of_the_book(n, e, rate):
    """Quinlan 1993, section 4.2: U25%(0, 6) and so on."""
    assert estimated_errors(n, e, 0.25) / n == pytest.approx(rate, abs=5e-4)


@given(st.floats(0.05, 60), st.floats(0, 1), st.floats(0.001, 0.999))
def test_estimated_errors_equal_those_of_the_direct_implementation(n, share, confidence):
    e = n * share
    expected = e + c45_oracle.C45(2, [], confidence=confidence).more(n, e)
    assert estimated_errors(n, e, confidence) == pytest.approx(expected, rel=1e-12)


@st.composite
def tables(draw, missing=True, nominal=True, weights=True):
    """Mixed columns of few values, so that tests tie: frame, classes, weights."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, p, n_classes = draw(st.integers(2, 40)), draw(st.integers(1, 5)), draw(st.integers(2, 4))
    span = draw(st.sampled_from([2, 5, 100]))
    holes = draw(st.sampled_from([0.0, 0.2])) if missing else 0.0
    y = np.arange(n) % n_classes
    columns = {}
    for j in range(p):
        signal = np.where(rng.random(n) < 0.6, y, rng.integers(0, span, n)) - span // 2
        if nominal and rng.random() < 0.5:
            values = [None if rng.random() < holes else "abcdefgh"[v % 8] for v in signal]
            columns[f"x{j}"] = pl.Series(values, dtype=pl.String)
        else:
            values = [None if rng.random() < holes else v / 4 for v in signal]
            columns[f"x{j}"] = pl.Series(values, dtype=pl.Float64)
    weight = rng.choice([1.0, 2.0, 0.5, 3.25], n) if weights and draw(st.booleans()) else None
    return pl.DataFrame(columns), y, weight


@settings(max_examples=200)
@given(tables(), st.sampled_from([1, 2, 4]), st.sampled_from([0.05, 0.25, 0.7]), st.booleans())
def test_any_table_gives_the_trees_of_the_direct_implementation(table, least, confidence, raising):
    frame, y, weight = table
    options = {"min_samples_leaf": least, "confidence": confidence, "subtree_raising": raising}
    found, pruned = compare(frame, y, weight, **options)
    assert size(pruned) <= size(found)


# Properties


@given(tables(), st.integers(0, 100))
def test_the_order_of_the_rows_does_not_matter(table, seed):
    frame, y, weight = table
    order = np.random.default_rng(seed).permutation(len(y))
    moved = C45().fit(frame[order], y[order], None if weight is None else weight[order])
    expected = C45().fit(frame, y, weight)
    np.testing.assert_array_equal(moved.tree_.feature, expected.tree_.feature)
    np.testing.assert_array_equal(moved.tree_.split, expected.tree_.split)
    np.testing.assert_allclose(moved.predict_proba(frame), expected.predict_proba(frame), rtol=1e-9, atol=1e-12)


@given(tables(weights=False), st.integers(0, 100))
def test_weights_count_as_repeated_rows(table, seed):
    frame, y, _ = table
    times = np.random.default_rng(seed).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    repeated, weighted = C45().fit(frame[rows], y[rows]), C45().fit(frame, y, times)
    np.testing.assert_array_equal(weighted.tree_.feature, repeated.tree_.feature)
    np.testing.assert_allclose(weighted.tree_.weight, repeated.tree_.weight, rtol=1e-9, atol=1e-9)


@given(tables(weights=False))
def test_a_row_of_weight_zero_is_no_row(table):
    frame, y, _ = table
    twice = pl.concat([frame, frame])
    weight = np.repeat([1.0, 0.0], len(y))
    found = C45().fit(twice, np.concatenate([y, (y + 1) % (y.max() + 1)]), weight)
    np.testing.assert_array_equal(found.predict_proba(frame), C45().fit(frame, y).predict_proba(frame))


@given(tables(nominal=False))
def test_a_monotone_transformation_changes_nothing_on_the_training_rows(table):
    """Raising sends rows across thresholds that they did not choose, where the width of a gap matters: without it."""
    frame, y, weight = table
    bent = frame.select(pl.all().exp())
    model = C45(subtree_raising=False)
    expected = model.fit(frame, y, weight).predict_proba(frame)
    np.testing.assert_allclose(model.fit(bent, y, weight).predict_proba(bent), expected, rtol=1e-9, atol=1e-12)


@given(tables(nominal=False))
def test_other_units_change_nothing(table):
    frame, y, weight = table
    other = frame.select(pl.all() * 4 - 8)
    expected = C45().fit(frame, y, weight).predict_proba(frame)
    np.testing.assert_allclose(C45().fit(other, y, weight).predict_proba(other), expected, rtol=1e-9, atol=1e-12)


@given(tables(nominal=False), st.sampled_from([np.float32, np.float64]), st.sampled_from([sp.csr_array, sp.csc_matrix]))
def test_sparse_rows_give_the_same_tree(table, dtype, form):
    frame, y, weight = table
    X = frame.to_numpy().astype(dtype)
    dense, sparse = C45().fit(X, y, weight), C45().fit(form(X), y, weight)
    np.testing.assert_array_equal(sparse.tree_.split, dense.tree_.split)
    np.testing.assert_array_equal(sparse.tree_.weight, dense.tree_.weight)
    np.testing.assert_array_equal(sparse.predict_proba(form(X)), dense.predict_proba(X))


@given(tables(), st.lists(st.sampled_from([0.01, 0.1, 0.25, 0.8]), min_size=1, max_size=3), st.booleans())
def test_one_grown_tree_serves_every_pruning(table, confidences, raising):
    frame, y, _ = table
    models = [*(C45(c, subtree_raising=raising) for c in confidences), C45(prune=False)]
    for together, model in zip(Together(models, frame, y), models, strict=True):
        np.testing.assert_array_equal(together.predict_proba(frame), model.fit(frame, y).predict_proba(frame))


@given(tables(missing=False))
def test_every_row_meets_the_one_rule_that_predicts_its_class(table):
    frame, y, weight = table
    model = C45(prune=False).fit(frame, y, weight)
    rules, predicted = model.rules(), model.predict(frame)
    for row, label in zip(frame.rows(named=True), predicted, strict=True):
        met = [rule for rule in rules if all(_meets(condition, row[condition.name]) for condition in rule.conditions)]
        assert [rule.label for rule in met] == [label]


def _meets(condition, value):
    if condition.inside is not None:
        return value in condition.inside
    assert condition.closed
    assert condition.outside is None
    return condition.low < value <= condition.high


# Single rules


def test_a_threshold_is_a_value_of_the_data():
    """The largest of all rows not above the middle: 4 is in the other half of the tree, between 2 and 8."""
    X = np.array([[0, 1], [0, 2], [0, 8], [0, 9], [1, 4], [1, 4], [1, 4], [1, 4]], dtype=float)
    model = C45(prune=False).fit(X, [0, 0, 1, 1, 2, 2, 2, 2])
    assert [str(rule) for rule in model.rules()] == [
        "IF x0 <= 0 AND x1 <= 4 THEN 0  (2 rows)",
        "IF x0 <= 0 AND x1 > 4 THEN 1  (2 rows)",
        "IF x0 > 0 THEN 2  (4 rows)",
    ]


def test_neighbouring_numbers_are_parted():
    y = np.repeat([0, 1], 4)
    for low, high in ((1.0, np.nextafter(1.0, 2.0)), (1.6e308, 1.7e308), (-5e-324, 0.0)):
        X = np.where(y == 1, high, low)[:, None]
        np.testing.assert_array_equal(C45().fit(X, y).predict(X), y)


def test_a_column_of_numbers_that_are_all_different_is_not_split_for_little():
    """The gain of the best of 39 thresholds of noise is below what they cost."""
    rng = np.random.default_rng(0)
    assert C45(prune=False).fit(rng.random((40, 1)), rng.permutation(np.arange(40) % 2)).tree_.feature.size == 1


def test_a_column_of_very_many_levels_does_not_count_in_the_mean_gain():
    """Names of pairs of rows gain one bit, colours half a bit at a better ratio: below the mean, were names counted."""
    y = np.arange(20) % 2
    colour = ["blue", "red"] * 10
    colour[:2] = ["red", "blue"]
    frame = pl.DataFrame({"name": [f"{i // 4} {i % 2}" for i in range(20)], "colour": colour})
    assert C45(prune=False).fit(frame, y).tree_.feature[0] == 1
    # When all columns are such, all count.
    assert C45(prune=False).fit(frame.select("name"), y).tree_.feature[0] == 0


def test_a_gain_may_lie_a_little_below_the_mean():
    """Gains of 0.0689 and 0.0677 bits, ratios of 0.071 and 0.088: the second is 0.0006 below the mean of both."""
    y = np.repeat([0, 1], 20)
    one = ["a"] * 11 + ["b"] * 9 + ["a"] * 5 + ["b"] * 15
    other = ["a"] * 7 + ["b"] * 13 + ["a"] * 2 + ["b"] * 18
    found, _ = compare(pl.DataFrame({"one": one, "other": other}), y)
    assert found["tests"] == 1


def test_a_level_without_rows_predicts_what_its_node_does():
    frame = pl.DataFrame({"a": ["p"] * 9 + ["q"] * 12, "b": ["u"] * 5 + ["v"] * 4 + ["u", "v", "w"] * 4})
    y = [0] * 5 + [1] * 4 + [2] * 12
    model = C45(prune=False).fit(frame, y)
    assert "IF a in {p} AND b in {w} THEN 0  (0 rows)" in [str(rule) for rule in model.rules()]
    new = pl.DataFrame({"a": ["p", "p"], "b": ["w", "new"]})
    np.testing.assert_allclose(model.predict_proba(new), [[5 / 9, 4 / 9, 0]] * 2)
    assert model.plot().data


def test_a_new_level_goes_down_all_branches():
    frame = pl.DataFrame({"b": ["u"] * 4 + ["v"] * 2})
    model = C45(prune=False).fit(frame, [0, 0, 0, 0, 1, 1])
    new = pl.DataFrame({"b": ["new", None, "v"]})
    np.testing.assert_allclose(model.predict_proba(new), [[2 / 3, 1 / 3], [2 / 3, 1 / 3], [0, 1]])


def test_two_columns_of_which_neither_gains_alone_are_found():
    """Names may be split without a gain, as the program does; the cost of a threshold forbids it for numbers."""
    frame = pl.DataFrame({"a": list("uuvv") * 3, "b": list("stst") * 3})
    y = [0, 1, 1, 0] * 3
    np.testing.assert_array_equal(C45(prune=False).fit(frame, y).predict(frame), y)


def test_the_largest_branch_takes_the_place_of_its_node():
    """Raising and replacement alone give the same trees of some tables, and different ones of others."""
    rng = np.random.default_rng(5)
    found = set()
    for _ in range(60):
        X = rng.integers(0, 4, (60, 4)).astype(float)
        y = (X[:, 0] + X[:, 1] + rng.integers(0, 3, 60) > 4).astype(int)
        raised, replaced = (C45(subtree_raising=raising).fit(X, y) for raising in (True, False))
        found.add(raised.tree_.feature.tolist() == replaced.tree_.feature.tolist())
    assert found == {True, False}


def test_the_picture_and_the_rules_name_levels_and_thresholds():
    model = C45().fit(GOLF, PLAY)
    picture = model.plot()
    boxes = next(trace for trace in picture.data if trace.hovertext is not None)
    assert "outlook in {overcast}" in " ".join(boxes.text)
    assert "humidity &lt;= 75" in " ".join(boxes.text)
    assert "missing: 28.6 % yes" in " ".join(boxes.hovertext)
    with pytest.raises(NotFittedError):
        C45().rules()
    with pytest.raises(NotFittedError):
        C45().plot()


def test_thresholds_of_single_precision_are_printed_with_its_digits():
    X = np.array([[0.1]] * 4 + [[0.7]] * 4, dtype=np.float32)
    model = C45().fit(X, np.repeat([0, 1], 4))
    assert str(model.rules()[0]) == "IF x0 <= 0.1 THEN 0  (4 rows)"
    assert model.predict(X).tolist() == [0] * 4 + [1] * 4


def test_bad_input_is_refused():
    for rows in ([[1.0], [np.inf]] * 4, pl.DataFrame({"a": [1.0, np.inf] * 4, "b": ["u"] * 8})):
        with pytest.raises(ValueError, match="infinity"):
            C45().fit(rows, [0, 1] * 4)
    with pytest.raises(ValueError, match="confidence"):
        C45(confidence=1.5).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="min_samples_leaf"):
        C45(min_samples_leaf=0).fit([[1.0], [2.0]], [0, 1])


def test_rows_that_tell_nothing_give_one_leaf():
    for X in (np.zeros((6, 2)), np.full((6, 2), np.nan), sp.csr_array((6, 2))):
        model = C45().fit(X, [0, 1, 1, 0, 1, 1])
        np.testing.assert_allclose(model.predict_proba(X), np.tile([1 / 3, 2 / 3], (6, 1)))
    frame = pl.DataFrame({"a": pl.Series([None] * 6, dtype=pl.String), "b": ["u"] * 6})
    np.testing.assert_array_equal(C45().fit(frame, [0, 1, 1, 0, 1, 1]).predict(frame), [1] * 6)


# Kernels

TABLE = times_log_table(30)


def sorted_lists(X):
    """Columns as the kernels take them: the values that are not zero in order, missing ones last."""
    begin, end, rows, values = [], [], [], []
    for column in X.T:
        listed = np.flatnonzero(column != 0)
        listed = listed[np.argsort(column[listed], kind="stable")]
        begin.append(len(rows))
        rows += listed.tolist()
        values += column[listed].tolist()
        end.append(len(rows))
    return np.array(begin), np.array(end), np.array(rows, dtype=np.int32), np.array(values, dtype=X.dtype)


def plain_cut(column, codes, weight, n_classes, least):
    """Gain, split info, and the values around the best cut of one column."""
    known = ~np.isnan(column)
    total, size = weight.sum(), weight[known].sum()
    margin = max(least, min(25.0, 0.1 * size / n_classes)) - 1e-9

    def bits(w):
        share = np.bincount(codes[w > 0], weights=w[w > 0]) / w.sum()
        return -(share[share > 0] * np.log2(share[share > 0])).sum()

    found, values = [], np.unique(column[known])
    for low, high in pairwise(values):
        left = known & (column <= low)
        sides = [weight * left, weight * (known & ~left)]
        if size >= 2 * least - 1e-9 and min(side.sum() for side in sides) >= margin:
            gain = (size * bits(weight * known) - sum(side.sum() * bits(side) for side in sides)) / total
            shares = np.array([*(side.sum() for side in sides), total - size]) / total
            info = -(shares[shares > 1e-12] * np.log2(shares[shares > 1e-12])).sum()
            found.append((gain, info, low, high))
    if not found:
        return -1.0, 0.0, None
    best = found[int(np.flatnonzero([f[0] >= max(g[0] for g in found) - 1e-10 for f in found])[0])]
    gain = best[0] - np.log2(len(found)) / total
    return (gain, best[1], best[2:]) if gain > 1e-10 else (-1.0, 0.0, None)


@given(tables(nominal=False), st.sampled_from([1.0, 2.0, 3.0]), st.sampled_from([np.float32, np.float64]))
def test_cuts_equal_their_twin(table, least, dtype):
    frame, codes, weight = table
    X = frame.to_numpy().astype(dtype)
    weight = np.ones(len(codes)) if weight is None else weight
    n_classes = int(codes.max()) + 1
    total = np.bincount(codes, weights=weight)
    for function in (cut_gains, cut_gains.python):
        gain, info, low, high = np.empty((4, X.shape[1]))
        varied = np.empty(X.shape[1], dtype=bool)
        given_ = *sorted_lists(X), codes.astype(np.int64), weight, total, TABLE, len(codes), least
        function(*given_, gain, info, low, high, varied)
        for j, column in enumerate(X.T):
            expected = plain_cut(column, codes, weight, n_classes, least)
            np.testing.assert_allclose((gain[j], info[j]), expected[:2], rtol=1e-9, atol=1e-9)
            assert expected[2] is None or (low[j], high[j]) == expected[2]
            assert gain[j] < 0 or varied[j]


@given(tables(), st.sampled_from([1.0, 2.0]), st.integers(0, 9))
def test_levels_equal_their_twin(table, least, seed):
    _, codes, weight = table
    weight = np.ones(len(codes)) if weight is None else weight
    rng = np.random.default_rng(seed)
    levels = rng.integers(-1, 4, (3, len(codes))).astype(np.int32)
    rows = np.flatnonzero(rng.random(len(codes)) < 0.8).astype(np.int32)
    if rows.size == 0:
        return
    total = np.bincount(codes[rows], weights=weight[rows], minlength=codes.max() + 1)
    members = np.array([2, 0])
    for function in (level_gains, level_gains.python):
        gain, info = np.empty((2, 2))
        varied = np.empty(2, dtype=bool)
        given_ = levels, np.full(3, 4), members, rows, codes.astype(np.int64), weight, total, TABLE, least
        function(*given_, gain, info, varied)
        for k, j in enumerate(members):
            column = [
                (w, ("abcd"[v] if v >= 0 else None,), c)
                for w, v, c in zip(weight[rows], levels[j, rows], codes[rows], strict=True)
            ]
            oracle = c45_oracle.C45(int(codes.max()) + 1, [True], least)
            oracle.levels = {0: list("abcd")}
            expected = oracle.level_test(column, 0)
            expected = (-1.0, 0.0) if expected is None else expected[:2]
            np.testing.assert_allclose((gain[k], info[k]), expected, rtol=1e-9, atol=1e-9)
            assert varied[k] == (np.unique(levels[j, rows][levels[j, rows] >= 0]).size > 1)


@given(tables(nominal=False), st.integers(1, 4), st.integers(0, 9))
def test_columns_are_dealt_as_by_masks(table, n_branches, seed):
    X = table[0].to_numpy()
    begin, end, rows, values = sorted_lists(X)
    # One branch more than is dealt: its rows are left out.
    branch = np.random.default_rng(seed).integers(ALL, n_branches + 1, X.shape[0]).astype(np.int32)
    places = np.arange(n_branches * X.shape[1]).reshape(n_branches, X.shape[1]) * X.shape[0]
    for function in (deal_columns, deal_columns.python):
        dealt = [np.empty(places.size * X.shape[0], dtype=kind) for kind in (np.int32, np.float64)]
        place = places.copy()
        function(begin, end, rows, values, branch, place, *dealt)
        for v in range(n_branches):
            for j in range(X.shape[1]):
                mine = np.isin(branch[rows[begin[j] : end[j]]], [v, ALL])
                part = slice(places[v, j], place[v, j])
                np.testing.assert_array_equal(dealt[0][part], rows[begin[j] : end[j]][mine])
                np.testing.assert_array_equal(dealt[1][part], values[begin[j] : end[j]][mine])


@given(tables())
def test_the_errors_of_a_subtree_equal_their_twin(table):
    frame, y, weight = table
    model = C45()
    codes, weight = y.astype(np.int64), np.ones(len(y)) if weight is None else weight
    grown = model.fit(frame, y)._prepare([model], model._read(frame, reset=False), codes)
    tree, used = grown.tree, grown.used
    feature = np.where(tree.feature < 0, -1, np.searchsorted(used, tree.feature))
    nodes = feature, tree.threshold, tree.offset, tree.count, tree.children, 0, int(y.max()) + 1, 0.25, 0.48
    data = np.ascontiguousarray(grown.X), codes, np.arange(len(y), dtype=np.int32), weight
    np.testing.assert_allclose(subtree_errors(*data, *nodes), subtree_errors.python(*data, *nodes), rtol=1e-12)


@given(tables())
def test_shares_of_rows_equal_those_of_the_plain_functions(table):
    frame, y, weight = table
    model = C45(prune=False).fit(frame, y, weight)
    tree, X = model.tree_, np.ascontiguousarray(model._read(frame, reset=False))
    nodes = tree.feature, tree.split, tree.left, tree.right, tree.share_left
    found = np.zeros((len(y), tree.weight.shape[1]))
    dense_shares.python(X, *nodes, tree.subset, tree.inside, tree.shares, found)
    np.testing.assert_array_equal(model.predict_proba(frame), found)
    if not model.nominal_.any():
        rows, found = sp.csr_array(X), np.zeros_like(found)
        csr_shares.python(rows.data, rows.indices, rows.indptr, *nodes, tree.shares, found)
        np.testing.assert_array_equal(tree.class_shares(rows), found)
