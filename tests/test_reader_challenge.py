"""Challenge files: the three forms, the official split, the .param file, and damaged folders."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fuzzing import attempt, damaged
from reading import put, put_challenge
from tamis.base.errors import DataError
from tamis.data import load
from tamis.data.dataset import Dataset
from tamis.data.parsing.reader import Source
from tamis.data.readers.challenge import reader
from tamis.data.readers.challenge.param import parse_param
from tamis.data.readers.challenge.rows import guess_form, parse_rows

OFFICIAL = """Data type: sparse-binary
Number of features: 100000
Number of examples and check-sums:
      \tPos_ex\tNeg_ex\tTot_ex\tCheck_sum
Train\t   78\t  722\t  800\t727760.00
Valid\t   34\t  316\t  350\t317752.00
Test \t   78\t  722\t  800\t730851.00
All  \t  190\t 1760\t 1950\t1776363.00
"""

PARTS = {
    "dense": {"train": "1 2.5 0 \n-3 4e1 5\n", "valid": "7 8 9\n", "test": "0 0 1\n"},
    "sparse": {"train": "1:1 2:2.5\n3:5 1:-3 2:40\n", "valid": "1:7 2:8 3:9\n", "test": "3:1\n"},
    "binary": {"train": "1 2\n3\n", "valid": "1 2 3\n", "test": "\n2\n"},
}
WANTED = {
    "dense": ([[1, 2.5, 0], [-3, 40, 5], [7, 8, 9]], [[0, 0, 1]]),
    "sparse": ([[1, 2.5, 0], [-3, 40, 5], [7, 8, 9]], [[0, 0, 1]]),
    "binary": ([[1, 1, 0], [0, 0, 1], [1, 1, 1]], [[0, 0, 0], [0, 1, 0]]),
}


def dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sp.issparse(X) else X)


@pytest.mark.parametrize("form", ["dense", "sparse", "binary"])
@pytest.mark.parametrize("given_as", ["", "toy_train.data", "toy_valid.data", "toy_train.labels", "toy.param"])
def test_three_forms(tmp_path: Path, form: str, given_as: str) -> None:
    files = {f"toy_{part}.data": text for part, text in PARTS[form].items()}
    files |= {"toy_train.labels": "-1\n1\n", "toy_valid.labels": "+1\n", "toy.param": "Number of features: 3\n"}
    ours = load(put(tmp_path, files) / given_as)
    labelled, test = WANTED[form]
    assert ours.is_sparse == (form != "dense")
    assert dense(ours.X).tolist() == labelled
    assert ours.X.dtype == np.float64
    assert ours.y.tolist() == [-1, 1, 1]
    assert ours.split is not None
    assert ours.split.tolist() == ["train", "train", "valid"]
    assert list(ours.unlabelled) == ["test"]
    assert dense(ours.unlabelled["test"]).tolist() == test
    assert (ours.name, ours.feature_names.tolist()) == ("toy", ["x1", "x2", "x3"])


def test_gzipped_files_and_training_rows_alone(tmp_path: Path) -> None:
    files = {"toy_train.data.gz": gzip.compress(b"1:2\n5:3\n"), "toy_train.labels": "-1\r\n+1\r\n"}
    ours = load(put(tmp_path, files) / "toy_train.data.gz")
    assert ours.X.shape == (2, 5)
    assert ours.split is not None
    assert ours.split.tolist() == ["train", "train"]
    assert ours.unlabelled == {}


def test_width_is_that_of_the_widest_part(tmp_path: Path) -> None:
    files = {"toy_train.data": "1:2\n2:3\n", "toy_train.labels": "-1\n+1\n", "toy_test.data": "7:1\n"}
    ours = load(put(tmp_path, files))
    assert ours.X.shape == (2, 7)
    assert ours.unlabelled["test"].shape == (1, 7)


def test_blank_lines_of_a_sparse_file_are_rows_as_far_as_labels_go(tmp_path: Path) -> None:
    files = {"toy_train.data": "1:2\n\n3:1\n\n\n\n", "toy_train.labels": "-1\n+1\n+1\n-1\n\n"}
    ours = load(put(tmp_path, files))
    assert ours.X.toarray().tolist() == [[2, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]]


def test_param_settles_what_the_rows_leave_open(tmp_path: Path) -> None:
    files = {"toy_train.data": "1 3\n2 3\n", "toy_train.labels": "-1\n+1\n"}
    assert load(put(tmp_path / "a", files)).X.tolist() == [[1, 3], [2, 3]]
    files["toy.param"] = "Data type: sparse-binary\nNumber of features: 4\n"
    assert load(put(tmp_path / "b", files)).X.toarray().tolist() == [[1, 0, 1, 0], [0, 1, 1, 0]]


def test_official_param_file() -> None:
    param = parse_param(OFFICIAL, Path("dorothea.param"))
    assert (param.form, param.features) == ("binary", 100000)
    assert {part: (c.positive, c.negative, c.total, c.check_sum) for part, c in param.counts.items()} == {
        "train": (78, 722, 800, 727760.0),
        "valid": (34, 316, 350, 317752.0),
        "test": (78, 722, 800, 730851.0),
    }


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1 2 3\n4 5 6\n", "dense"),
        ("1.5\n2\n", "dense"),
        ("3:1\n\n", "sparse"),
        ("3 7 9\n2 8\n", "binary"),
        ("3 7 9\n8 2\n", "dense"),
        ("3 7 9\n2 -8\n", "dense"),
        ("3 7 9\n2 99999999999999999999999\n", "dense"),
    ],
)
def test_forms_told_apart(text: str, form: str) -> None:
    assert guess_form(text) == form


@given(text=st.text(alphabet="0123 :.-e\n", min_size=1, max_size=30), form=st.sampled_from(("sparse", "binary")))
def test_quick_rows_are_the_careful_rows(text: str, form: str) -> None:
    try:
        ours = parse_rows(text, Path("a.data"), form)
    except DataError:
        return
    for row, line in zip(ours.toarray(), text.removesuffix("\n").split("\n"), strict=True):
        wanted = np.zeros(ours.shape[1])
        for word in line.split():
            index, _, value = word.partition(":")
            wanted[int(index) - 1] = float(value or 1)
        assert row.tolist() == wanted.tolist()


@st.composite
def datasets(draw: st.DrawFn, *, binary: bool = False) -> Dataset:
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    numbers = st.integers(0, 1).map(float) if binary else st.floats(-1e200, 1e200)
    X: Any = draw(hnp.arrays(np.float64, (rows, columns), elements=numbers, fill=st.nothing()))
    X[:, 0] = 1.0
    y = draw(hnp.arrays(np.int64, rows, elements=st.sampled_from((-1, 1))))
    valid = draw(st.integers(0, rows - 1))
    split = np.array(["train"] * (rows - valid) + ["valid"] * valid)
    unlabelled = {"test": X[::-1].copy()} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        X, unlabelled = sp.csr_array(X), {part: sp.csr_array(rest) for part, rest in unlabelled.items()}
    names = np.array([f"x{j}" for j in range(1, columns + 1)])
    return Dataset(X, y, names, split=split, unlabelled=unlabelled)


@pytest.mark.parametrize("form", ["dense", "sparse", "binary"])
@given(data=st.data())
def test_written_files_read_back(folder: Path, form: str, data: st.DataObject) -> None:
    given_set = data.draw(datasets(binary=form == "binary"))
    for old in folder.iterdir():
        old.unlink()
    ours = load(put_challenge(folder, "toy", given_set, form))
    np.testing.assert_array_equal(dense(ours.X), dense(given_set.X))
    assert ours.y.tolist() == given_set.y.tolist()
    assert ours.split is not None
    assert given_set.split is not None
    assert ours.split.tolist() == given_set.split.tolist()
    assert list(ours.unlabelled) == list(given_set.unlabelled)
    for part, X in given_set.unlabelled.items():
        np.testing.assert_array_equal(dense(ours.unlabelled[part]), dense(X))


def test_lone_files_tell_what_is_missing(tmp_path: Path) -> None:
    put(tmp_path, {"toy_valid.data": "1 2\n", "toy_valid.labels": "1\n"})
    with pytest.raises(DataError, match=r"toy_train\.data: no such file"):
        load(tmp_path / "toy_valid.data")
    with pytest.raises(DataError, match="no target 'x1' can be chosen"):
        reader.read(Source(tmp_path / "toy_valid.data"), "x1")


TEXTS = [text.encode() for form in PARTS.values() for text in form.values()]


@settings(max_examples=150)
@given(
    train=st.binary(max_size=60) | damaged(TEXTS) | st.sampled_from(TEXTS),
    labels=damaged([b"-1\n+1\n"]) | st.just(b"-1\n+1\n"),
    valid=damaged(TEXTS) | st.sampled_from(TEXTS) | st.none(),
    param=damaged([OFFICIAL.encode(), b"Number of features: 3\nTrain 1 1 2 5.00\n"]) | st.none(),
)
def test_any_bytes_give_a_data_set_or_one_sentence(
    folder: Path, train: bytes, labels: bytes, valid: bytes | None, param: bytes | None
) -> None:
    for old in folder.iterdir():
        old.unlink()
    files = {"toy_train.data": train, "toy_train.labels": labels, "toy_valid.data": valid, "toy.param": param}
    put(folder, {name: content for name, content in files.items() if content is not None})
    data = attempt(lambda: reader.read(Source(folder / "toy.param"), None), folder)
    if data is not None:
        assert data.X.shape == (len(data.y), len(data.feature_names))


@pytest.mark.parametrize(("name", "form"), [("dexter", "sparse"), ("dorothea", "binary")])
def test_real_data_written_and_read_back(shared_data: Path, tmp_path: Path, name: str, form: str) -> None:
    given_set = load(shared_data / name / f"{name}.npz")
    put_challenge(tmp_path, name, given_set, form)
    if name == "dorothea":
        (tmp_path / "dorothea.param").write_text(OFFICIAL)
    ours = load(tmp_path)
    assert abs(ours.X - given_set.X).nnz == 0
    assert abs(ours.unlabelled["test"] - given_set.unlabelled["test"]).nnz == 0
    assert ours.y.tolist() == given_set.y.tolist()
    assert ours.split is not None
    assert given_set.split is not None
    assert ours.split.tolist() == given_set.split.tolist()
