"""The reader of AnnData files, dense and sparse, and what it says without the package."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.data.load import Sought, load
from tamis.data.reading import Reading

X = np.array([[0.0, 1.5], [2.0, 0.0], [0.0, 0.0]])


def stored(folder: Path, matrix: object) -> Path:
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame({"kind": pd.Categorical(["a", "b", None]), "batch": [1.0, 2.0, 2.0]}, index=["c1", "c2", "c3"])
    with warnings.catch_warnings(), anndata.settings.override(allow_write_nullable_strings=True):
        warnings.simplefilter("ignore")  # what anndata says of pandas
        anndata.AnnData(matrix, obs=obs, var=pd.DataFrame(index=["g1", "g2"])).write_h5ad(folder / "t.h5ad")
    return folder / "t.h5ad"


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_a_column_of_obs_is_the_class(tmp_path: Path, make: type) -> None:
    data = load(stored(tmp_path, make(X)), "kind")
    np.testing.assert_array_equal(data.X.toarray() if data.is_sparse else data.X, X[:2])
    assert data.is_sparse == (make is not np.asarray)
    assert data.y.tolist() == ["a", "b"]
    assert data.feature_names.tolist() == ["g1", "g2"]
    assert data.notes == ("1 row without a class is left out", "annotations of the rows are no features: 'batch'")


def test_numbers_as_classes_and_no_class(tmp_path: Path) -> None:
    path = stored(tmp_path, X)
    assert load(path, "batch").y.tolist() == [1, 2, 2]
    assert load(path, Sought("none")).unlabelled[""].shape == (3, 2)
    with pytest.raises(DataError, match=r"no annotation is called 'kinds'; the nearest is 'kind'; --target names"):
        load(path, "kinds")
    with pytest.raises(DataError, match="--transpose is not for h5ad files"):
        load(path, "kind", reading=Reading(transpose=True))


def test_a_damaged_file(tmp_path: Path) -> None:
    path = stored(tmp_path, X)
    for content, piece in ((path.read_bytes()[:900], "damaged"), (b"a,b\n1,2\n", "is not an AnnData file")):
        path.write_bytes(content)
        with pytest.raises(DataError, match=piece):
            load(path, "kind")


def test_without_the_package_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anndata", None)
    (tmp_path / "t.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(DataError, match=r"t\.h5ad: to read \.h5ad files, install anndata: pip install 'tamis\[h5ad\]'"):
        load(tmp_path / "t.h5ad", "kind")
