"""Kernels against plain NumPy twins."""

import contextlib
import itertools
import logging
import time
from functools import reduce
from operator import add

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tamis.base import moments
from tamis.base.moments import ClassMoments, TargetMoments, _small_class_moments, _small_comoments, class_totals
from tamis.kernels import compiler
from tamis.kernels.comoments import dense_comoments
from tamis.kernels.compiler import all_kernels, helper, kernel
from tamis.kernels.moments import dense_class_moments
from tamis.kernels.sparse import stored_arrays


@st.composite
def problems(draw):
    n = draw(st.integers(1, 150))
    p = draw(st.integers(1, 5))
    values = st.sampled_from([0.0, 0.0, 1.0, -2.5, 1e6, 0.1, np.nan])
    X = draw(hnp.arrays(np.float64, (n, p), elements=values))
    codes = draw(hnp.arrays(np.intp, n, elements=st.integers(0, 2)))
    codes[0] = 2
    weight = draw(hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])))
    return X, codes, weight


def plain_moments(X, codes, weight):
    """The same three tables by masks and means."""
    shape = (codes.max() + 1, X.shape[1])
    out = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for c in range(shape[0]):
        for j in range(shape[1]):
            known = (codes == c) & ~np.isnan(X[:, j])
            w, x = weight[known], X[known, j]
            if w.sum() > 0:
                mean = np.average(x, weights=w)
                out[0][c, j], out[1][c, j], out[2][c, j] = w.sum(), mean, (w * (x - mean) ** 2).sum()
    return out


def layouts(X):
    wide = np.full((X.shape[0], 2 * X.shape[1]), 7.0)
    wide[:, ::2] = X
    return [X, np.asfortranarray(X), wide[:, ::2], sp.csr_array(X), sp.csc_array(X)]


@given(problems())
def test_moments_equal_their_twin(problem):
    X, codes, weight = problem
    expected = plain_moments(X, codes, weight)
    for layout in layouts(X):
        found = ClassMoments.of(layout, codes, weight)
        for got, want in zip((found.weight, found.mean, found.scatter), expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@given(problems(), st.sampled_from([np.float32, np.float64]), st.sampled_from([1.0, 1e-7, 0.3]))
def test_moments_of_a_small_table_equal_those_of_the_kernel_to_the_bit(problem, dtype, scale):
    X, codes, weight = problem
    X, weight = (scale * np.nan_to_num(X, nan=-0.0)).astype(dtype), weight + 0.1
    rows, starts = np.argsort(codes, kind="stable"), np.searchsorted(np.sort(codes), np.arange(4))
    found, expected = np.zeros((3, 3, X.shape[1] + 1)), np.zeros((3, 3, X.shape[1] + 1))
    _small_class_moments(X, 1, rows, starts, weight, *found)
    dense_class_moments(X, 1, rows, starts, weight, *expected)
    assert found.tobytes() == expected.tobytes()


def plain_comoments(X, y, weight):
    """Weight, means, scatters and covariation by masks and means."""
    out = np.zeros((6, X.shape[1]))
    for j, column in enumerate(X.T):
        known = ~np.isnan(column)
        w, x, t = weight[known], column[known], y[known]
        if w.sum() > 0:
            d, e = x - np.average(x, weights=w), t - np.average(t, weights=w)
            out[:3, j] = w.sum(), np.average(x, weights=w), np.average(t, weights=w)
            out[3:, j] = (w * d * d).sum(), (w * e * e).sum(), (w * d * e).sum()
    return out


targets = st.sampled_from([0.0, 0.5, 1.0, -3.25, 1e4])


@given(problems(), st.data())
def test_comoments_equal_their_twin(problem, data):
    X, _, weight = problem
    y = data.draw(hnp.arrays(np.float64, X.shape[0], elements=targets))
    expected = plain_comoments(X, y, weight)
    for layout in layouts(X):
        found = TargetMoments.of(layout, y, weight)
        parts = found.weight, found.mean, found.target_mean, found.scatter, found.target_scatter, found.covariation
        for got, want in zip(parts, expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-6)


@given(problems(), st.data(), st.sampled_from([np.float32, np.float64]), st.sampled_from([1.0, 1e-7, 0.3]))
def test_comoments_of_a_small_table_equal_those_of_the_kernel_to_the_bit(problem, data, dtype, scale):
    X, _, weight = problem
    y = data.draw(hnp.arrays(np.float64, X.shape[0], elements=targets)) * scale
    X, weight = (scale * np.nan_to_num(X, nan=-0.0)).astype(dtype), weight + 0.1
    found, expected = np.zeros((6, X.shape[1] + 1)), np.zeros((6, X.shape[1] + 1))
    _small_comoments(X, 1, y, weight, found)
    dense_comoments(X, 1, y, weight, expected)
    assert found.tobytes() == expected.tobytes()


def parts_of(X, cuts):
    """Slices of rows, of which some may be empty."""
    borders = [0, *sorted(min(cut, X.shape[0]) for cut in cuts), X.shape[0]]
    return [slice(*pair) for pair in itertools.pairwise(borders)]


@given(problems(), st.lists(st.integers(0, 150), max_size=3), st.sampled_from([1.0, 1e7]))
def test_moments_of_parts_add_up_to_those_of_all_rows(problem, cuts, shift):
    X, codes, weight = problem
    X = X + shift
    for form in (np.asarray, sp.csr_array):
        whole = ClassMoments.of(form(X), codes, weight)
        rows = parts_of(X, cuts)
        summed = reduce(add, (ClassMoments.of(form(X[r]), codes[r], weight[r], n_classes=3) for r in rows))
        for name in ("weight", "mean", "scatter"):
            np.testing.assert_allclose(getattr(summed, name), getattr(whole, name), rtol=1e-9, atol=1e-9 * shift)


@given(problems(), st.data(), st.lists(st.integers(0, 150), max_size=3))
def test_comoments_of_parts_add_up_to_those_of_all_rows(problem, data, cuts):
    X, _, weight = problem
    y = data.draw(hnp.arrays(np.float64, X.shape[0], elements=targets))
    rows = [r for r in parts_of(X, cuts) if r.start < r.stop]
    for form in (np.asarray, sp.csr_array):
        whole = TargetMoments.of(form(X), y, weight)
        summed = reduce(add, (TargetMoments.of(form(X[r]), y[r], weight[r]) for r in rows))
        np.testing.assert_allclose(summed.correlation, whole.correlation, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(summed.weight, whole.weight)


@given(problems(), st.booleans())
def test_totals_equal_their_twin(problem, presence):
    X, codes, weight = problem
    for layout in layouts(X):
        total, known, lowest = class_totals(layout, codes, weight, presence=presence)
        for c in range(codes.max() + 1):
            rows = codes == c
            values = (X[rows] != 0) & ~np.isnan(X[rows]) if presence else np.nan_to_num(X[rows])
            np.testing.assert_allclose(total[c], weight[rows] @ values, atol=1e-9)
            np.testing.assert_allclose(known[c], weight[rows] @ ~np.isnan(X[rows]), atol=1e-9)
        assert lowest == min(0.0, np.nanmin(X, initial=0.0))


def test_moments_keep_their_digits_far_from_zero():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3))
    codes = np.arange(500) % 2
    shifted = ClassMoments.of(X + 1e9, codes)
    np.testing.assert_allclose(shifted.scatter, ClassMoments.of(X, codes).scatter, rtol=1e-5)


@pytest.mark.parametrize("value", [0.1, 1e-300, 1e140, -3.3, 0.0])
def test_a_constant_column_has_no_scatter(value):
    found = ClassMoments.of(np.full((1001, 2), value), np.arange(1001) % 3)
    assert not found.within.any()
    assert not found.between.any()


def test_duplicate_entries_of_a_sparse_matrix_add_up():
    X = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 0]), np.array([0, 2, 3])), shape=(2, 1))
    before = X.nnz
    assert ClassMoments.of(X, np.array([0, 1])).mean.ravel().tolist() == [3.0, 4.0]
    assert X.nnz == before


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_wide_and_narrow_indices_share_a_version(form):
    X, codes = form(np.random.default_rng(0).random((6, 4)).round()), np.array([0, 1, 0, 1, 1, 0])
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert [part.dtype for part in stored_arrays(wide)] == [part.dtype for part in stored_arrays(X)]
    assert stored_arrays(X)[1] is X.indices
    np.testing.assert_array_equal(ClassMoments.of(wide, codes).mean, ClassMoments.of(X, codes).mean)
    np.testing.assert_array_equal(class_totals(wide, codes, presence=True)[0], class_totals(X, codes, presence=True)[0])


def test_an_error_in_a_helper_is_raised():
    @helper
    def inverse(x):
        return 1.0 / x

    @kernel("float64(float64)")
    def of_inverse(x):
        return inverse(x)

    assert of_inverse(2.0) == 0.5
    with pytest.raises(ZeroDivisionError):
        of_inverse(0.0)


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
def test_infinity_is_named_by_its_column(value, small, monkeypatch):
    monkeypatch.setattr(moments, "_is_small", lambda *_: small)
    X = np.ones((4, 3))
    X[1, 2] = value
    for layout in (X, sp.csr_array(X), sp.csc_array(X)):
        with pytest.raises(ValueError, match="column 2"):
            ClassMoments.of(layout, np.array([0, 1, 0, 1]))
        with pytest.raises(ValueError, match="column 2"):
            TargetMoments.of(layout, np.array([0.5, 1.5, 0.0, 1.0]))


def test_every_kernel_declares_the_types_it_is_called_with():
    rng = np.random.default_rng(0)
    codes = np.array([0, 1, 0, 1])
    for dtype in (np.float32, np.float64):
        X = rng.random((4, 3)).astype(dtype)
        for layout in (X, sp.csr_array(X), sp.csc_array(X)):
            ClassMoments.of(layout, codes)
            TargetMoments.of(layout, codes + 0.5)
            class_totals(layout, codes, presence=True)
    kernels = {k.__name__: k for k in all_kernels()}
    moments = [f"{form}_{kind}moments" for form in ("dense", "csr", "csc") for kind in ("class_", "co")]
    for name in (*moments, "dense_class_totals"):
        used = set(kernels[name]._ready)
        kernels[name].warm()
        assert used <= kernels[name]._ready
        assert len(kernels[name]._ready) == len(kernels[name].signatures)


def test_a_kernel_calls_helpers_declared_after_the_first_call_of_another():
    ClassMoments.of(sp.csr_array(np.eye(2)), np.array([0, 1]))

    @helper
    def twice(x):
        return 2.0 * x

    @kernel("float64(float64)")
    def fourfold(x):
        return twice(twice(x))

    assert fourfold(3.0) == 12.0
    assert fourfold.size > kernel("float64(float64)")(twice).size


def test_a_slow_compilation_is_announced(monkeypatch, caplog):
    monkeypatch.setattr(compiler, "PATIENCE", 0.0)

    @kernel("float64(float64[::1])", reads=1)
    def total(x):
        s = 0.0
        for v in x:
            s += v
        return s

    monkeypatch.setattr(total, "_alone", lambda: contextlib.nullcontext(time.sleep(0.3)))
    compile_now = total._dispatcher.compile
    monkeypatch.setattr(total._dispatcher, "compile", lambda kinds: (time.sleep(0.3), compile_now(kinds)))
    said = {}
    for is_stored in (True, False):
        monkeypatch.setattr(compiler, "stored", lambda dispatcher, known=is_stored: lambda kinds: known)
        total._seen.clear()
        total._ready.clear()
        with caplog.at_level(logging.WARNING, logger="tamis"):
            total(np.arange(3.0))
        said[is_stored] = "compiling total" in caplog.text
    # A version that is only loaded from disk, however slowly, is not compiled.
    assert said == {True: False, False: True}


def test_memory_mapped_and_ordinary_arrays_share_one_version():
    @kernel("float64(float64[::1])", reads=1)
    def first(x):
        return x[0]

    locked = np.arange(3.0)
    locked.flags.writeable = False
    assert first(np.arange(3.0)) == first(locked) == 0.0
    assert len(first._ready) == 1
