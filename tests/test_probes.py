"""Probes keep the values of real columns and lose everything else, in every kind of table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tamis.base.errors import TamisError
from tamis.data.dataset import Dataset
from tamis.data.probes import add_probes
from tamis.data.synthetic import xor

SPARSE = {
    "csr_array": sp.csr_array,
    "csc_array": sp.csc_array,
    "csr_matrix": sp.csr_matrix,
    "csc_matrix": sp.csc_matrix,
}
KINDS = {
    "numpy": lambda X: X,
    "fortran": np.asfortranarray,
    "polars": lambda X: pl.DataFrame(X, schema=[f"c{i}" for i in range(X.shape[1])]),
    "pandas": lambda X: pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])], index=[7] * X.shape[0]),
    **SPARSE,
}


def dense(X) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def sample(seed: int = 0, shape: tuple[int, int] = (30, 6)) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < 0.4, rng.integers(1, 9, shape), 0).astype(float)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("share", [0.1, 0.5, 0.75])
def test_probes_are_permuted_columns(kind, share):
    X = sample()
    given_table = KINDS[kind](X.copy())
    extended, mask = add_probes(given_table, share, seed=1)
    assert type(extended) is type(given_table)
    np.testing.assert_array_equal(dense(given_table), X, err_msg="the input was changed")
    out = dense(extended)
    assert out.shape == (30, len(mask))
    np.testing.assert_array_equal(out[:, ~mask], X)
    originals = sorted(map(tuple, np.sort(X, axis=0).T.tolist()))
    copies = sorted(map(tuple, np.sort(out[:, mask], axis=0).T.tolist()))
    if share == 0.5:
        assert copies == originals
    elif share == 0.75:
        assert copies == sorted(originals * 3)
    else:
        assert len(copies) == 1
        assert copies[0] in originals


@given(
    X=hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=7), elements=st.integers(-2, 2)),
    share=st.floats(0.01, 0.9),
    seed=st.integers(0, 99),
)
def test_any_matrix(X, share, seed):
    n = X.shape[1]
    wanted = max(1, round(n * share / (1 - share)))
    for table in (X, sp.csr_array(X), sp.csc_array(X)):
        extended, mask = add_probes(table, share, seed=seed)
        assert mask.tolist() == [False] * n + [True] * wanted
        copies = map(tuple, np.sort(dense(extended)[:, mask], axis=0).T.tolist())
        originals = list(map(tuple, np.sort(X, axis=0).T.tolist()))
        # Columns are drawn in turns, so that their counts differ by one at most.
        counts = dict.fromkeys(originals, 0)
        for copy in copies:
            counts[copy] += 1
        for column in originals:
            twins = originals.count(column)
            assert twins * (wanted // n) <= counts[column] <= twins * -(-wanted // n)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_probe_has_an_order_of_its_own_and_forgets_its_column(kind):
    values = np.random.default_rng(0).normal(size=2000)
    X = np.column_stack([values] * 5)
    extended, _ = add_probes(KINDS[kind](X), 0.5)
    related = np.corrcoef(dense(extended)[:, 4:].T)
    assert np.abs(related[np.triu_indices(6, 1)]).max() < 0.12


def test_every_permutation_of_a_sparse_column_is_equally_likely():
    X = sp.csc_array(np.array([[1.0], [2.0], [0.0]]))
    seen = [tuple(add_probes(X, 0.5, seed=seed)[0].toarray()[:, 1]) for seed in range(600)]
    _, counts = np.unique(seen, axis=0, return_counts=True)
    assert len(counts) == 6
    assert counts.min() > 60


@pytest.mark.parametrize("kind", ["numpy", "csr_array", "polars", "pandas"])
def test_same_seed_same_probes(kind):
    table = KINDS[kind](sample())
    first, again, other = (dense(add_probes(table, seed=seed)[0]) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("kind", sorted(SPARSE))
def test_sparse_is_never_made_dense(kind, monkeypatch):
    X = SPARSE[kind](sp.random_array((50, 40_000), density=0.001, random_state=0, dtype=np.float32))

    def refuse(self, *args, **kwargs):
        raise AssertionError("made dense")

    monkeypatch.setattr(type(X), "toarray", refuse)
    monkeypatch.setattr(type(X), "todense", refuse)
    extended, _ = add_probes(X)
    assert extended.nnz == 2 * X.nnz
    assert extended.format == X.format
    assert extended.dtype == np.float32
    assert extended.has_canonical_format


def test_sparse_with_two_values_in_one_place():
    X = sp.csc_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(4, 1))
    extended, _ = add_probes(X, seed=2)
    assert sorted(extended.toarray()[:, 1]) == [0.0, 0.0, 3.0, 4.0]
    assert X.nnz == 3


def test_other_sparse_formats_come_back_as_csr():
    extended, _ = add_probes(sp.coo_array(sample()))
    assert extended.format == "csr"


@pytest.mark.parametrize("kind", ["numpy", "csr_array", "polars"])
def test_missing_values_move_along(kind):
    X = sample()
    X[:4, :] = np.nan
    extended, mask = add_probes(KINDS[kind](X))
    assert np.isnan(dense(extended)[:, mask]).sum() == np.isnan(X).sum()


def test_frames_keep_types_and_names():
    frame = pl.DataFrame({"a": ["u", None, "v"], "probe_2": [1.0, 2.0, 3.0]})
    extended, _ = add_probes(frame, 0.6)
    assert extended.columns == ["a", "probe_2", "probe_1", "probe_3", "probe_4"]
    # Three probes of two columns: each column once, then one of them again.
    assert sum(dtype == pl.String for dtype in extended.dtypes[2:]) in (1, 2)
    for probe in extended.columns[2:]:
        source = "a" if extended[probe].dtype == pl.String else "probe_2"
        assert extended[probe].sort().equals(extended[source].sort())
    table = pd.DataFrame({"a": pd.Categorical(["u", "v", "u"]), "b": [1, 2, 3]}, index=[5, 5, 6])
    extended, mask = add_probes(table)
    assert extended.index.tolist() == [5, 5, 6]
    assert sorted(map(str, extended.dtypes[mask])) == sorted(map(str, table.dtypes))


def test_dataset():
    X = sp.csr_array(sample(shape=(20, 4)))
    data = Dataset(
        X,
        np.arange(20) % 2,
        np.array(["a", "b", "probe_1", "d"]),
        split=np.array(["train", "valid"] * 10),
        unlabelled={"test": sp.csr_array(sample(1, (9, 4)))},
    )
    more, mask = add_probes(data, 0.5, seed=5)
    assert isinstance(more, Dataset)
    assert more.feature_names.tolist() == ["a", "b", "probe_1", "d", "probe_2", "probe_3", "probe_4", "probe_5"]
    assert more.roles.tolist() == [""] * 4 + ["probe"] * 4
    np.testing.assert_array_equal(more.probes, mask)
    np.testing.assert_array_equal(more.y, data.y)
    np.testing.assert_array_equal(more.split, data.split)
    assert data.roles is None
    test = more.unlabelled["test"]
    assert test.shape == (9, 8)
    # Both parts must draw the same columns: match each probe with its source by the values of the labelled rows.
    sources = [
        next(c for c in range(4) if sorted(X.toarray()[:, c]) == sorted(more.X.toarray()[:, p])) for p in range(4, 8)
    ]
    for probe, source in zip(range(4, 8), sources, strict=True):
        assert sorted(test.toarray()[:, probe]) == sorted(test.toarray()[:, source])


def test_dataset_with_known_roles_keeps_them():
    data = xor(50, n_probes=3)
    more, mask = add_probes(data, 0.5)
    np.testing.assert_array_equal(more.roles[~mask], data.roles)
    assert (more.roles[mask] == "probe").all()
    assert more.probes.sum() == mask.sum() + 3


@pytest.mark.parametrize(
    ("table", "share", "message"),
    [
        (sample(), 0, "share must be a number above 0 and below 1; got 0"),
        (sample(), 1.0, "share must be a number above 0 and below 1; got 1.0"),
        (sample(), float("nan"), "share must be a number"),
        (sample(), "half", "share must be a number above 0 and below 1; got 'half'"),
        (np.arange(3.0), 0.5, r"at least one column; got shape \(3,\)"),
        (np.ones((3, 0)), 0.5, r"at least one column; got shape \(3, 0\)"),
        (pd.DataFrame(sample()), 0.5, "column names are text; got 0"),
    ],
)
def test_bad_input(table, share, message):
    with pytest.raises(TamisError, match=message):
        add_probes(table, share)


def test_bad_seed():
    with pytest.raises(TamisError, match="seed must be a whole number of 0 or more; got -1"):
        add_probes(sample(), seed=-1)
