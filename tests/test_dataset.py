"""The data set and its parts, and writing it down."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.data import load
from tamis.data.dataset import Dataset
from tamis.data.write import write

NAMES = np.array(["a", "b", "c"])


def made(X, **known):
    return Dataset(X, np.array(["p", "q"] * 3), NAMES, **known)


DENSE = np.arange(18.0).reshape(6, 3)
FORMS = {"array": DENSE, "sparse": sp.csr_array(DENSE), "frame": pl.DataFrame(DENSE, schema=NAMES.tolist())}


@pytest.mark.parametrize("X", FORMS.values(), ids=FORMS)
def test_rows_and_columns_can_be_taken(X):
    data = made(X, split=np.array(["train", "valid"] * 3), roles=np.array(["informative", "probe", "probe"]))
    half = data.rows(np.arange(6) < 3)
    assert (half.n_rows, half.y.tolist(), half.split.tolist()) == (3, ["p", "q", "p"], ["train", "valid", "train"])
    assert data.rows([5, 0]).n_rows == 2
    fewer = data.without("b")
    assert (fewer.feature_names.tolist(), fewer.roles.tolist()) == (["a", "c"], ["informative", "probe"])
    grouped = data.grouped_by("a")
    assert (grouped.groups.tolist(), grouped.feature_names.tolist()) == ([0, 3, 6, 9, 12, 15], ["b", "c"])
    assert data.probes.tolist() == [False, True, True]
    with pytest.raises(DataError, match="no column called 'z'"):
        data.grouped_by("z")
    with pytest.raises(DataError, match="no feature is left"):
        data.without("a", "b", "c")


def test_nominal_columns_and_missing_values_are_counted():
    frame = pl.DataFrame({"a": [1.0, None, 3.0, 4.0, 5.0, 6.0], "b": ["x", "y", None, "x", "x", "y"], "c": [0.0] * 6})
    data = made(frame)
    assert (data.nominal.tolist(), data.n_missing) == ([False, True, False], 2)
    assert data.grouped_by("b").groups.tolist() == ["x", "y", None, "x", "x", "y"]
    assert isinstance(data.without("b").X, np.ndarray)
    holes = DENSE.copy()
    holes[0, 0] = np.nan
    assert made(holes).n_missing == made(sp.csr_array(holes)).n_missing == 1


@pytest.mark.parametrize("known", [{"split": np.array(["train"])}, {"roles": np.array(["probe"])}, {"groups": [1, 2]}])
def test_what_does_not_fit_is_refused(known):
    with pytest.raises(DataError, match="for 6 rows and 3 columns"):
        made(DENSE, **known)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".npz"])
def test_what_is_written_is_read_back(tmp_path, ending):
    data = made(DENSE)
    write(data, tmp_path / f"d{ending}")
    again = load(tmp_path / f"d{ending}")
    np.testing.assert_array_equal(again.X, DENSE)
    assert (again.y.tolist(), again.feature_names.tolist()) == (data.y.tolist(), NAMES.tolist())
    assert [p.name for p in tmp_path.iterdir()] == [f"d{ending}"]


def test_sparse_data_and_probes_are_kept_in_npz(tmp_path):
    write(made(FORMS["sparse"], roles=np.array(["", "probe", ""])), tmp_path / "d.npz")
    again = load(tmp_path / "d.npz")
    assert sp.issparse(again.X)
    assert again.probes.tolist() == [False, True, False]
    with pytest.raises(DataError, match=r"write it as \.npz"):
        write(made(FORMS["sparse"]), tmp_path / "d.csv")
    with pytest.raises(DataError, match=r"write it as \.csv"):
        write(made(FORMS["frame"]), tmp_path / "e.npz")
    with pytest.raises(DataError, match="must end in"):
        write(made(DENSE), tmp_path / "d.xls")
    assert [p.name for p in tmp_path.iterdir()] == ["d.npz"]


@pytest.mark.parametrize("form", ["list", "array", "csc", "pandas", "polars"])
def test_rows_in_any_form_are_a_data_set(form: str) -> None:
    X = np.arange(12.0).reshape(4, 3)
    names = ["a", "b", "c"]
    forms = {
        "list": X.tolist(),
        "array": X,
        "csc": sp.csc_matrix(X),
        "pandas": pd.DataFrame(X, columns=names),
        "polars": pl.DataFrame(X, schema=names),
    }
    data = Dataset.of(forms[form], ["p", "q", "p", "q"], groups=[1, 1, 2, 2])
    assert (data.n_rows, data.n_features, data.name) == (4, 3, "data")
    assert data.classes.tolist() == ["p", "q"]
    assert data.groups.tolist() == [1, 1, 2, 2]
    assert data.has_names == (form in ("pandas", "polars"))
    assert data.feature_names.tolist() == (names if data.has_names else [0, 1, 2])
    assert data.n_missing == 0
    assert data.remedy == ""
    if form == "csc":
        assert data.X.format == "csr"
    elif form != "list":
        assert data.X is forms[form]


def test_a_data_set_stays_itself() -> None:
    data = made(DENSE)
    assert Dataset.of(data) is data
    regrouped = Dataset.of(data, groups=np.arange(6))
    assert regrouped.X is data.X
    assert regrouped.groups.tolist() == list(range(6))


@pytest.mark.parametrize("form", ["array", "pandas", "sparse"])
def test_missing_values_of_plain_rows_have_a_remedy(form: str) -> None:
    X = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0]])
    data = Dataset.of({"array": X, "pandas": pd.DataFrame(X), "sparse": sp.csr_matrix(X)}[form], [0, 1, 1])
    assert data.n_missing == 2
    assert data.remedy == "the data has 2 missing values: begin the recipe with impute"
