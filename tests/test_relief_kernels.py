"""The kernels of Relief against NumPy."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tamis.kernels.relief import dense_changes, dense_distances, offer, sparse_changes, sparse_distances
from tamis.kernels.sparse import stored_arrays
from tamis.scores import relieff

some_values = st.one_of(st.sampled_from([0.0, 0.0, 0.5, 1.0, -0.25, np.nan]), st.floats(-1, 1))


@st.composite
def blocks(draw, holes=True):
    """Rows, the numbers of some of them, and the bounds of a slab."""
    n_rows, n_columns = draw(st.integers(1, 9)), draw(st.integers(1, 22))
    values = some_values if holes else some_values.filter(lambda v: not np.isnan(v))
    X = draw(arrays(np.float64, (n_rows, n_columns), elements=values))
    rows = np.array(draw(st.lists(st.integers(0, n_rows - 1), min_size=1, max_size=7)), dtype=np.intp)
    left = draw(st.integers(0, n_rows - 1))
    return X, rows, left, draw(st.integers(left + 1, n_rows))


@given(blocks(), st.data())
def test_dense_distances(block, data):
    X, rows, left, right = block
    n_numeric = data.draw(st.integers(0, X.shape[1]))
    first = data.draw(st.sampled_from([0, n_numeric]))
    gap = np.abs(X[rows][:, None] - X[left:right])
    gap[:, :, n_numeric:] = np.where(gap[:, :, n_numeric:] > 0, 1.0, 0.0)
    out = np.ones(gap.shape[:2])
    slab = np.ascontiguousarray(X[left:right].T)
    dense_distances(X, rows, slab, first, n_numeric, bool(np.isnan(X).any()), out)
    np.testing.assert_allclose(out, 1 + np.nansum(gap[:, :, first:], axis=2), rtol=1e-12)


@given(blocks(), st.booleans())
def test_sparse_distances(block, squared):
    X, rows, left, right = block
    size = np.nansum(X**2 if squared else np.abs(X), axis=1)
    missing = np.isnan(X).sum(axis=1)
    out = size[rows][:, None] + size[left:right]
    known = X.shape[1] - missing[rows][:, None] - missing[left:right].astype(float)
    slab = stored_arrays(sp.csc_array(X[left:right]))
    sparse_distances(*stored_arrays(sp.csr_array(X)), rows, *slab, squared, out, known)
    gap = np.abs(X[rows][:, None] - X[left:right])
    np.testing.assert_allclose(out, np.nansum(gap**2 if squared else gap, axis=2), atol=1e-12)
    np.testing.assert_array_equal(known, (~np.isnan(gap)).sum(axis=2))


@given(st.data(), st.integers(1, 12), st.integers(1, 7), st.booleans())
def test_offer(data, n_rows, size, two_groups):
    apart = data.draw(
        arrays(np.float64, (n_rows, n_rows), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0, np.inf]))
    )
    codes = data.draw(arrays(np.intp, n_rows, elements=st.integers(0, 2)))
    weight = data.draw(arrays(np.float64, n_rows, elements=st.sampled_from([0.5, 1.0, 2.0])))
    cut = data.draw(st.integers(0, n_rows))
    nobody, shift, scale = np.iinfo(np.int64).max, 4, 1000.0
    keys = np.full((n_rows, 3, size), nobody)
    rows = np.arange(n_rows)
    for left, right in ((cut, n_rows), (0, cut)):
        slab = np.ascontiguousarray(apart[:, left:right])
        offer(slab, rows, left, codes, two_groups, weight, scale, shift, keys)
    for i in range(n_rows):
        for g in range(3):
            near = []
            for j in range(n_rows):
                group = int(codes[j] != codes[i]) if two_groups else codes[j]
                d = apart[i, j] if j != i else 0.0
                if group == g and apart[i, j] < np.inf and (j != i or weight[i] > 1):
                    near.append((round(d * scale), j))
            expected = [d * 2**shift + j for d, j in sorted(near)][:size]
            assert np.sort(keys[i, g])[: len(expected)].tolist() == expected
            assert (np.sort(keys[i, g])[len(expected) :] == nobody).all()


@given(blocks(), st.data())
def test_changes(block, data):
    X, rows, _, _ = block
    n_numeric = data.draw(st.integers(0, X.shape[1]))
    shape = (rows.size, data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4)))
    near = data.draw(arrays(np.int64, shape, elements=st.integers(0, len(X) - 1)))
    share = data.draw(arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.5, 1.0, 2.0])))
    share = np.where(np.cumprod(share, axis=2) > 0, share, 0.0)
    factor = data.draw(arrays(np.float64, shape[:2], elements=st.sampled_from([-1.0, 0.0, 0.3, 2.0])))
    for split in (n_numeric, X.shape[1]):
        gap = np.abs(X[rows][:, None, None] - X[near])
        gap[..., split:] = np.where(gap[..., split:] > 0, 1.0, gap[..., split:])
        counted = share[..., None] * ~np.isnan(gap)
        total = counted.sum(axis=2)
        mean = np.where(total > 0, (counted * np.nan_to_num(gap)).sum(axis=2) / np.where(total > 0, total, 1.0), 0.0)
        expected = (factor[..., None] * mean).sum(axis=(0, 1))
        change = np.zeros(X.shape[1])
        dense_changes(X, split, bool(np.isnan(X).any()), rows, near, share, factor, change)
        np.testing.assert_allclose(change, expected, atol=1e-12)
    change = np.zeros(X.shape[1])
    sparse_changes(*stored_arrays(sp.csr_array(X)), rows, near, share, factor, change)
    np.testing.assert_allclose(change, expected, atol=1e-12)


def test_every_kernel_declares_the_types_it_is_called_with():
    X, y = np.random.default_rng(0).random((6, 5)), [0, 0, 0, 1, 1, 1]
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for form in (X, X.astype(np.float32), np.asfortranarray(X), sp.csr_array(X), wide):
        for metric in ("manhattan", "euclidean"):
            relieff(form, y, metric=metric)
            relieff(form, y, metric=metric, sample=3, sample_weight=[1, 2, 0, 1, 1, 1])
    for each in (dense_distances, sparse_distances, offer, dense_changes, sparse_changes):
        used = set(each._ready)
        each.warm()
        assert used <= each._ready
        assert len(each._ready) == len(each.signatures)
