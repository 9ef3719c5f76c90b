"""The svmlight reader against scikit-learn's, its two paths against each other, and on damaged files."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from fuzzing import damaged, survives
from reading import reads
from tamis.base.errors import DataError
from tamis.data.parsing.index_value import read_plain
from tamis.data.parsing.reader import Source
from tamis.data.readers.svmlight import _scan, reader

read = reads(reader, "toy.svm")

# The largest numbers overflow when they are written with 16 digits.
values = st.floats(-1e300, 1e300).filter(bool)


@st.composite
def matrices(draw: st.DrawFn) -> sp.csr_matrix:
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    cells = st.dictionaries(st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1)), values, min_size=1)
    entries = draw(cells)
    i, j = zip(*entries, strict=True)
    return sp.csr_matrix((list(entries.values()), (i, j)), shape=(rows, columns))


@given(X=matrices(), data=st.data())
def test_reads_what_scikit_learn_writes(folder: Path, X: sp.csr_matrix, data: st.DataObject) -> None:
    y = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=X.shape[0], max_size=X.shape[0])))
    file = BytesIO()
    dump_svmlight_file(X, y, file, zero_based=False, comment=data.draw(st.sampled_from((None, "a remark"))))
    ours = read(folder, file.getvalue())
    file.seek(0)
    theirs, labels = load_svmlight_file(file, zero_based=False)
    assert ours.X.shape == theirs.shape
    assert (abs(ours.X - theirs)).nnz == 0
    assert ours.y.tolist() == labels.tolist()
    assert ours.y.dtype == np.int64


def test_dataset_in_full(folder: Path) -> None:
    ours = read(folder, b"# made by hand\n+1 2:0.5 4:-3e2 # first\n\n-1\n1.0 1:.25\t3:1.\n", name="some.name.svm")
    assert ours.X.toarray().tolist() == [[0, 0.5, 0, -300], [0, 0, 0, 0], [0.25, 0, 1, 0]]
    assert ours.X.dtype == np.float64
    assert ours.y.tolist() == [1, -1, 1]
    assert ours.feature_names.tolist() == ["x1", "x2", "x3", "x4"]
    assert (ours.name, ours.target, ours.split, ours.groups) == ("some.name", "class", None, None)


def test_qid_becomes_groups(folder: Path) -> None:
    ours = read(folder, b"3 qid:7 1:1\n2 qid:7 2:1\n1 qid:9 1:4\n")
    assert ours.groups is not None
    assert ours.groups.tolist() == [7, 7, 9]
    assert ours.y.tolist() == [3, 2, 1]


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf1 1:2\r\n-1 2:3\r\n", b"1 1:2\r-1 2:3\r", b"1 1:2\n-1 2:3"])
def test_byte_order_mark_and_line_ends(folder: Path, content: bytes) -> None:
    ours = read(folder, content)
    assert ours.X.toarray().tolist() == [[2, 0], [0, 3]]


def test_stored_zeros_are_dropped(folder: Path) -> None:
    assert read(folder, b"1 1:0 2:5\n").X.nnz == 1


def test_fractional_labels_stay(folder: Path) -> None:
    assert read(folder, b"0.5 1:1\n2 1:1\n").y.tolist() == [0.5, 2.0]


@given(X=matrices(), data=st.data())
def test_quick_and_careful_paths_agree(X: sp.csr_matrix, data: st.DataObject) -> None:
    y = np.array(data.draw(st.lists(values, min_size=X.shape[0], max_size=X.shape[0])))
    file = BytesIO()
    dump_svmlight_file(X, y, file, zero_based=False)
    text = file.getvalue().decode()
    plain = read_plain(text)
    assert plain is not None
    slow, labels, groups = _scan(text, Path("a.svm"))
    assert plain[0].shape == slow.shape
    assert abs(plain[0] - slow).nnz == 0
    assert plain[1].tolist() == labels.tolist()
    assert groups is None


@settings(max_examples=300)
@given(text=st.text(alphabet="0123 :.-+e\n", max_size=30))
def test_quick_path_takes_nothing_that_the_careful_one_refuses(text: str) -> None:
    plain = read_plain(text)
    if plain is not None:
        slow, labels, _ = _scan(text, Path("a.svm"))
        assert abs(plain[0] - slow).nnz == 0
        assert plain[1].tolist() == labels.tolist()


@pytest.mark.parametrize(
    ("head", "right"),
    [
        (b"1 1:2 3:4\n", True),
        (b"# remark\n\n-1 qid:2 7:1\n", True),
        (b"1 " + b" ".join(b"%d:1" % i for i in range(1, 5000)), True),
        (b"a,b\n1,2\n", False),
        (b"1:2 3:4\n", False),
        (b"1 2 3\n", False),
        (b"", False),
    ],
)
def test_looks_right(folder: Path, head: bytes, right: bool) -> None:
    path = folder / "some.thing"
    path.write_bytes(head)
    assert reader.looks_right(Source(path)) is right


def test_target_cannot_be_chosen(folder: Path) -> None:
    path = folder / "toy.svm"
    path.write_bytes(b"1 1:2\n")
    with pytest.raises(DataError, match="no target 'x1' can be chosen"):
        reader.read(Source(path), "x1")


GOOD = [b"1 1:2 3:4.5 # remark\n-1 2:1e3\n", b"1 qid:1 1:2\n2 qid:1 3:1\n", b"1 1:2 3:4.5\n-1 2:1e3 17:3\n+1 1:2\n"]


@settings(max_examples=200)
@given(content=st.binary(max_size=200) | damaged(GOOD))
def test_any_bytes_give_a_data_set_or_one_sentence(folder: Path, content: bytes) -> None:
    data = survives(reader, folder / "fuzz.svm", content)
    if data is not None:
        assert np.isfinite(data.X.data).all()
