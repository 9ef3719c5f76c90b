"""The search for splits and its kernels against brute force and against their plain Python twins."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ssv_oracle import Sides, best_split, best_subset, path, sides
from tamis.base.errors import DataError
from tamis.kernels.ssv import EXHAUSTIVE, column_splits, nominal_split
from tamis.kernels.tree import SHORT, csr_leaves, dense_leaves, divide_columns, sort_segments
from tamis.trees.columns import sorted_columns
from tamis.trees.split import CRITERIA, best_splits
from tamis.trees.tree import Tree

NAN = float("nan")
VALUES = st.sampled_from([0.0, 0.0, -0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, -1.25, 7.0, NAN])
#: Thirds and tenths are no sums of powers of two: what is equal in fractions is not so in floating point.
WEIGHTS = [[1], [1, 2, 3], [Fraction(1, 10), Fraction(2, 10), Fraction(3, 10)], [Fraction(1, 3), Fraction(1, 7)]]


@st.composite
def labels(draw, n):
    n_classes = draw(st.integers(2, 4))
    codes = draw(hnp.arrays(np.int64, n, elements=st.integers(0, n_classes - 1)))
    return codes, draw(st.lists(st.sampled_from(draw(st.sampled_from(WEIGHTS))), min_size=n, max_size=n)), n_classes


@st.composite
def problems(draw):
    n, p = draw(st.integers(1, 14)), draw(st.integers(1, 3))
    X = draw(hnp.arrays(draw(st.sampled_from([np.float32, np.float64])), (n, p), elements=VALUES, fill=st.nothing()))
    return X, *draw(labels(n)), draw(st.sampled_from(CRITERIA))


def search(X, codes, weight, n_classes, criterion):
    """best_splits of all columns of a matrix."""
    weight = np.array(weight, dtype=np.float64)
    columns = next(sorted_columns(X, whole=True))
    total = np.bincount(codes, weights=weight, minlength=n_classes)
    return best_splits(columns, codes, weight, total, X.shape[0], criterion)


@settings(max_examples=300)
@given(problems())
def test_splits_equal_brute_force(problem):
    X, codes, weight, n_classes, criterion = problem
    found = search(*problem)
    for j in range(X.shape[1]):
        want = best_split(X[:, j], codes, weight, n_classes, criterion)
        if want is None:
            assert found.score[j] == -np.inf
            continue
        assert found.score[j] == pytest.approx(float(want.worth), rel=1e-12, abs=1e-12)
        assert found.same[j] == pytest.approx(float(want.same), rel=1e-12, abs=1e-12)
        assert (found.split[j], found.gap[j]) == (float(want.split), float(want.gap))


def layouts(X):
    explicit = sp.csc_array(np.ones_like(X))
    explicit.data[:] = X.ravel(order="F")  # zeros are stored
    return [np.asfortranarray(X), sp.csr_array(X), sp.csc_array(X), explicit]


@given(st.integers(0, 10**6), st.sampled_from([np.float32, np.float64]), st.sampled_from(CRITERIA))
def test_every_layout_has_the_same_splits_to_the_bit(seed, dtype, criterion):
    rng = np.random.default_rng(seed)
    n, n_classes = rng.integers(2, 400), rng.integers(2, 5)
    X = rng.integers(-2, 3, (n, 4)) * rng.choice([0.5, 1.0, 0.1])
    X[rng.random((n, 4)) < 0.1] = np.nan
    X, codes = X.astype(dtype), rng.integers(0, n_classes, n)
    for weight in (rng.integers(1, 4, n), rng.choice([0.1, 0.2, 1 / 3], n)):
        wanted = search(X, codes, weight, n_classes, criterion)
        for layout in layouts(X):
            before = layout.copy()
            found = search(layout, codes, weight, n_classes, criterion)
            for name in ("score", "same", "split", "gap"):
                assert getattr(found, name).tobytes() == getattr(wanted, name).tobytes()
            assert (before != layout).sum() == np.isnan(X).sum()


@given(problems())
def test_compiled_and_plain_search_agree(problem):
    X, codes, weight, n_classes, criterion = problem
    weight = np.array(weight, dtype=np.float64)
    columns = next(sorted_columns(X, whole=True))
    total = np.bincount(codes, weights=weight, minlength=n_classes)
    given = columns.begin, columns.end, columns.rows, columns.values, codes, weight, total
    outputs = []
    for function in (column_splits, column_splits.python):
        out = [np.zeros(X.shape[1]) for _ in range(4)]
        function(*given, X.shape[0], criterion == "balanced_error", *out)
        outputs.append(out)
    for compiled, plain in zip(*outputs, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-12, atol=1e-12)


def test_blocks_of_a_wide_matrix_add_up_to_the_whole(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (6, 11)).astype(np.float64)
    whole = next(sorted_columns(X, whole=True))
    monkeypatch.setattr("tamis.trees.columns._BLOCK", 24)
    blocks, joined = list(sorted_columns(X)), next(sorted_columns(X, whole=True))
    assert [b.features.tolist() for b in blocks] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]
    for name in ("features", "begin", "end", "rows", "values"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))


@given(problems(), st.sampled_from([0.25, 2.0, 1024.0]))
def test_scale_and_sign_of_a_column(problem, scale):
    X, *rest = problem
    found, scaled, mirrored = search(X, *rest), search(X * X.dtype.type(scale), *rest), search(-X, *rest)
    np.testing.assert_array_equal(scaled.score, found.score)
    np.testing.assert_array_equal(scaled.split, scale * found.split)
    np.testing.assert_array_equal(scaled.gap, scale * found.gap)
    np.testing.assert_allclose(mirrored.score, found.score, atol=1e-12)
    np.testing.assert_allclose(mirrored.same, found.same, atol=1e-12)


EDGES = [0.0, 1.0, -1.0, 1e-40, 5e-324, -5e-324, 2.0**-1074 * 3, 1e308, -1e308, 1.7e308, 3e38, -3e38]


@given(st.lists(st.sampled_from(EDGES), min_size=1, max_size=4), st.sampled_from([np.float32, np.float64]), st.data())
def test_the_left_side_is_what_lies_below_the_split(edges, dtype, data):
    """Neighbouring floating-point numbers have no midpoint, and the sum of huge ones is infinite."""
    with np.errstate(over="ignore", under="ignore"):
        base = np.array(edges, dtype=dtype)
        near = np.array([b for e in base for b in (e, np.nextafter(e, dtype(9)), np.nextafter(e, -dtype(np.inf)))])
    near = near[np.isfinite(near)]
    assume(np.unique(near).size > 1)
    codes = data.draw(hnp.arrays(np.int64, near.size, elements=st.integers(0, 2)))
    assume(np.unique(codes).size > 1)
    want = best_split(near, codes, [Fraction(1)] * near.size, 3, "ssv")
    for layout in (near[:, None], sp.csr_array(near[:, None])):
        found = search(layout, codes, np.ones(near.size), 3, "ssv")
        left = near.astype(np.float64) < found.split[0]
        assert 0 < left.sum() < near.size
        parted = sides(left, codes, [Fraction(1)] * near.size, 3)
        assert (found.score[0], found.same[0]) == (want.worth, want.same) == (parted.worth("ssv"), parted.same)
        assert np.isfinite(found.split[0])


def test_a_class_that_is_missing_from_a_column_does_not_count():
    """The weights of its rows, taken off their own sum, leave a trace in floating point."""
    x = np.array([[NAN], [NAN], [NAN], [1.0], [2.0], [1.0], [2.0]])
    codes = np.array([0, 0, 0, 1, 1, 2, 2])
    for order in ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1]):
        found = search(x, codes, [*order, 1, 1, 1, 1], 3, "balanced_error")
        assert found.score[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_columns_that_cannot_be_split(criterion):
    X = np.array([[0.0, 5.0, NAN, 0.0, NAN, 4.0], [0.0, 5.0, NAN, NAN, 3.0, 4.0], [-0.0, 5.0, NAN, -0.0, 3.0, 3.0]])
    for layout in (X, sp.csr_array(X)):
        worth = search(layout, np.array([0, 1, 0]), np.ones(3), 2, criterion).score
        np.testing.assert_array_equal(worth == -np.inf, [True] * 5 + [False])


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_named_by_its_column(value, monkeypatch):
    X = np.zeros((4, 9))
    X[:, 3] = [1.0, NAN, 2.0, 0.0]
    X[2, 7] = value
    for block in (8, 1000):
        monkeypatch.setattr("tamis.trees.columns._BLOCK", block)
        for layout in (X, sp.csr_array(X), sp.csc_array(X)):
            with pytest.raises(DataError, match=r"column 7 .*infinity"):
                list(sorted_columns(layout))


@st.composite
def segments(draw):
    sizes = draw(st.lists(st.sampled_from([0, 1, 2, 7, 32, 33, 34, 150]), min_size=1, max_size=4))
    n = sum(sizes)
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    values = rng.integers(-20, 20, n).astype(dtype)
    values[rng.random(n) < draw(st.sampled_from([0.0, 0.3, 0.9, 1.0]))] = np.nan
    if draw(st.booleans()):
        values.sort()
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64), np.arange(n, dtype=np.int32), values


@given(segments())
def test_short_segments_are_sorted_with_missing_values_last_and_long_ones_marked(problem):
    starts, rows, values = problem
    for function in (sort_segments, sort_segments.python):
        r, v, unsorted = rows.copy(), values.copy(), np.zeros(starts.size - 1, dtype=bool)
        function(starts, r, v, unsorted)
        for (first, last), left_alone in zip(pairwise(starts), unsorted, strict=True):
            order = np.argsort(values[first:last], kind="stable")
            if left_alone:
                assert last - first > SHORT
                order.sort()
            np.testing.assert_array_equal(r[first:last], first + order)
            np.testing.assert_array_equal(v[first:last], values[first:last][order])


@given(segments(), st.integers(0, 10**6), st.sampled_from([(True, True), (True, False), (False, True)]))
def test_columns_are_divided_in_order(problem, seed, wanted):
    starts, _, values = problem
    n = max(1, int(np.diff(starts).max()))
    rng = np.random.default_rng(seed)
    goes_left = rng.random(n) < rng.choice([0.0, 0.2, 0.5, 1.0])
    rows = np.concatenate([rng.permutation(n)[: last - first] for first, last in pairwise(starts)])
    rows = rows.astype(np.int32)
    for function in (divide_columns, divide_columns.python):
        r, v, middle = rows.copy(), values.copy(), np.full(starts.size - 1, -1)
        function(starts[:-1], starts[1:], goes_left, *wanted, r, v, np.empty(n, np.int32), np.empty(n, v.dtype), middle)
        for first, last, m in zip(starts[:-1], starts[1:], middle, strict=True):
            left = goes_left[rows[first:last]]
            pieces = {True: slice(first, m), False: slice(m, last)}
            if not all(wanted):
                pieces = {wanted[0]: slice(first, m)}
            for side, piece in pieces.items():
                np.testing.assert_array_equal(r[piece], rows[first:last][left == side])
                np.testing.assert_array_equal(v[piece], values[first:last][left == side])


@st.composite
def trees(draw):
    """A tree of any shape over three columns, the last of them nominal, and rows to send down."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    nominal = draw(st.booleans())
    nodes = 2 * draw(st.integers(0, 6)) + 1
    feature, left, right = (np.full(nodes, -1) for _ in range(3))
    leaves = [0]
    for child in range(1, nodes, 2):
        node = leaves.pop(rng.integers(len(leaves)))
        feature[node], left[node], right[node] = rng.integers(3), child, child + 1
        leaves += [child, child + 1]
    names = nominal & (feature == 2)
    subset = np.concatenate(([0], np.cumsum(np.where(names, rng.integers(1, 5, nodes), 0))))
    split = np.where((feature < 0) | names, np.nan, rng.integers(-2, 3, nodes) / 2)
    tree = Tree(
        *(feature, split, left, right, rng.random(nodes) < 0.5),
        *(subset, rng.random(subset[-1]) < 0.5, np.ones((nodes, 2)), np.ones(2)),
    )
    X = rng.integers(-2, 3, (20, 3)) / 2
    X[:, 2] = rng.integers(0, 6, 20)
    X[rng.random(X.shape) < 0.2] = np.nan
    return tree, X.astype(draw(st.sampled_from([np.float32, np.float64]))), nominal


@given(trees())
def test_leaves_equal_a_walk(problem):
    tree, X, nominal = problem
    wanted = [list(path(tree, row))[-1] for row in X]
    assert tree.leaves(X).tolist() == tree.leaves(np.asfortranarray(X)).tolist() == wanted
    nodes = tree.feature, tree.split, tree.left, tree.right, tree.missing_left
    found = np.zeros(X.shape[0], dtype=np.int64)
    dense_leaves.python(X, *nodes, tree.subset, tree.inside, found)
    assert found.tolist() == wanted
    if not nominal:
        S = sp.csr_array(X)
        assert tree.leaves(S).tolist() == tree.leaves(S.tocsc()).tolist() == wanted
        csr_leaves.python(S.data, S.indices, S.indptr, *nodes, found)
        assert found.tolist() == wanted
        S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
        assert tree.leaves(S).tolist() == wanted


@st.composite
def named(draw, most=8):
    n = draw(st.integers(1, 16))
    return draw(hnp.arrays(np.int32, n, elements=st.integers(-1, most - 1))), *draw(labels(n))


def subset_of(levels, codes, weight, n_classes, criterion, function=nominal_split):
    inside = np.ones(int(levels.max(initial=-1)) + 1, dtype=bool)
    given = levels, np.arange(levels.size), codes, np.array(weight, dtype=np.float64), n_classes
    return *function(*given, criterion == "balanced_error", inside), inside


@settings(max_examples=150)
@given(named(), st.sampled_from(CRITERIA))
def test_subsets_of_few_levels_equal_brute_force(problem, criterion):
    levels, codes, weight, n_classes = problem
    want = best_subset(*problem, criterion)
    worth, same, inside = subset_of(*problem, criterion)
    if want is None:
        assert worth == -np.inf
        assert not inside.any()
        return
    known = levels >= 0
    weight = [w for w, k in zip(weight, known, strict=True) if k]
    parted = sides(~inside[levels[known]], codes[known], weight, n_classes)
    assert (parted.worth(criterion), parted.same) == want
    assert (worth, same) == pytest.approx((float(want[0]), float(want[1])), rel=1e-12, abs=1e-12)
    assert sum(parted.right) <= sum(parted.left)


@settings(max_examples=15)
@given(named(5), st.sampled_from(CRITERIA))
def test_compiled_and_plain_search_of_subsets_agree(problem, criterion):
    compiled, plain = (subset_of(*problem, criterion, function=f) for f in (nominal_split, nominal_split.python))
    assert compiled[:2] == pytest.approx(plain[:2])
    assert compiled[2].tolist() == plain[2].tolist()


def prefixes(table, c):
    """The sides of every prefix of the levels in order of the share of class c."""
    order = np.argsort(table[:, c] / table.sum(axis=1), kind="stable")
    for size in range(1, order.size):
        part = [Fraction(int(v)) for v in table[order[:size]].sum(axis=0)]
        yield Sides(part, [Fraction(int(v)) - p for v, p in zip(table.sum(axis=0), part, strict=True)])


def test_the_best_subset_need_not_be_a_prefix_of_the_class_rates():
    table = np.array([[4, 2], [7, 4], [7, 0], [3, 6], [6, 3], [3, 3]])
    assert max(s.worth("ssv") for s in prefixes(table, 0)) == 554
    levels, codes = np.divmod(np.arange(table.size), 2)
    assert subset_of(levels.astype(np.int32), codes, table.ravel(), 2, "ssv")[0] == 563


@given(st.integers(EXHAUSTIVE + 1, EXHAUSTIVE + 8), st.integers(2, 4), st.integers(0, 10**6), st.sampled_from(CRITERIA))
def test_subsets_of_many_levels_are_no_worse_than_prefixes(n_levels, n_classes, seed, criterion):
    table = np.random.default_rng(seed).integers(1, 50, (n_levels, n_classes))
    # Levels of equal share have no order of their own.
    assume(all(np.unique(share).size == n_levels for share in (table / table.sum(axis=1, keepdims=True)).T))
    levels, codes = np.divmod(np.arange(table.size), n_classes)
    weight = [Fraction(int(w)) for w in table.ravel()]
    worth, same, inside = subset_of(levels.astype(np.int32), codes, weight, n_classes, criterion)
    best = max(s.worth(criterion) for c in range(n_classes) for s in prefixes(table, c))
    parted = sides(~inside[levels], codes, weight, n_classes)
    assert parted.worth(criterion) >= best
    assert (worth, same) == pytest.approx((float(parted.worth(criterion)), float(parted.same)))


def best_of_all(levels, codes, n_classes, n_levels, criterion):
    """The best worth of all subsets of levels, by their sums at once."""
    table = np.zeros((n_levels, n_classes))
    np.add.at(table, (levels, codes), 1.0)
    known = table.sum(axis=0)
    chosen = (np.arange(1, 2 ** (n_levels - 1))[:, None] >> np.arange(n_levels - 1)) & 1
    part = chosen @ table[:-1]
    if criterion == "balanced_error":
        share = part / known
        return ((share.max(axis=1) + (1 - share).max(axis=1) - 1) / (n_classes - 1)).max()
    weight = part.sum(axis=1)
    apart = weight * (known.sum() - weight) - (part * (known - part)).sum(axis=1)
    return (2 * apart - np.minimum(part, known - part).sum(axis=1)).max()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("draws", [9, pytest.param(120, marks=pytest.mark.slow)])
def test_subsets_of_up_to_fifteen_levels_equal_all_subsets(n_classes, criterion, draws):
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        n_levels = EXHAUSTIVE + 1 + seed % 3
        levels = np.r_[np.arange(n_levels), rng.integers(0, n_levels, rng.integers(1, 7) * n_levels)].astype(np.int32)
        rate = rng.dirichlet(np.full(n_classes, (1.0, 10.0)[seed % 2]), size=n_levels)
        codes = np.r_[np.arange(n_classes), [rng.choice(n_classes, p=rate[one]) for one in levels[n_classes:]]]
        worth, _, _ = subset_of(levels, codes, np.ones(levels.size), n_classes, criterion)
        assert worth == pytest.approx(best_of_all(levels, codes, n_classes, n_levels, criterion), rel=1e-12), seed


@settings(max_examples=5)
@given(st.integers(0, 10**6), st.integers(2, 3), st.sampled_from(CRITERIA))
def test_compiled_and_plain_exchanges_agree(seed, n_classes, criterion):
    rng = np.random.default_rng(seed)
    levels = np.r_[np.arange(EXHAUSTIVE + 1), rng.integers(0, EXHAUSTIVE + 1, 20)].astype(np.int32)
    given = levels, rng.integers(0, n_classes, levels.size), np.ones(levels.size), n_classes, criterion
    compiled, plain = (subset_of(*given, function=f) for f in (nominal_split, nominal_split.python))
    assert compiled[:2] == pytest.approx(plain[:2])
    assert compiled[2].tolist() == plain[2].tolist()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_planted_groups_of_many_levels_are_found(criterion, n_classes):
    rng = np.random.default_rng(0)
    group = rng.random(40) < 0.4
    levels = rng.permutation(np.repeat(np.arange(40), 5)).astype(np.int32)
    codes = np.where(group[levels], 1, 0)
    worth, same, inside = subset_of(levels, codes, np.ones(200), n_classes, criterion)
    assert same == 0
    assert inside.tolist() == group.tolist()
    assert worth == (1.0 if criterion == "balanced_error" else 2.0 * (codes == 0).sum() * (codes == 1).sum())
