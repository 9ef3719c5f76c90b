"""Reading time series: files of the UEA archive, npz archives, long tables, names; and what is wrong with them."""

import gzip

import numpy as np
import polars as pl
import pytest

from tamis.base.errors import DataError
from tamis.data import Reading
from tamis.series import Series, load

HEADER = "#about\n@problemName walks\n@timeStamps false\n@dimensions 2\n@classLabel true walk rest\n@data\n"
TS = HEADER + "1,2,3:4,5.5,?:walk\n\n1,2:NaN,1:rest\n"


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_ts_files_hold_items_of_different_lengths(tmp_path):
    found = load(put(tmp_path, "walks.ts", TS))
    assert found.y.tolist() == ["walk", "rest"]
    np.testing.assert_array_equal(found.items[0], [[1, 4], [2, 5.5], [3, np.nan]])
    np.testing.assert_array_equal(found.items[1], [[1, np.nan], [2, 1]])
    assert (found.name, found.variables.tolist()) == ("walks", ["v1", "v2"])
    packed = load(put(tmp_path, "packed.ts.gz", gzip.compress(TS.encode())))
    np.testing.assert_array_equal(packed.items[0], found.items[0])


def test_ts_files_hold_numbers_or_nothing_as_targets(tmp_path):
    numbers = (
        TS.replace("@classLabel true walk rest", "@targetlabel true").replace("walk\n", "1.5\n").replace("rest", "2")
    )
    found = load(put(tmp_path, "n.ts", numbers))
    assert (found.y.tolist(), found.task) == ([1.5, 2.0], "regress")
    bare = TS.replace("true walk rest", "false").replace(":walk", "").replace(":rest", "")
    assert load(put(tmp_path, "b.ts", bare)).y is None
    coded = TS.replace(":walk", ":2").replace(":rest", ":10")
    assert load(put(tmp_path, "c.ts", coded)).y.tolist() == [2, 10]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TS.replace("5.5", "five"), r"line 7, variable 2: 'five' is not a number"),
        (TS.replace(":NaN,1", ""), r"line 9: has 1 variables, the first item 2"),
        (TS.replace("4,5.5,?", "4,5"), r"line 7: its variables have 2 to 3 values"),
        (TS.replace(":walk", ":?"), r"line 7: the class after the last colon is missing"),
        (TS.replace("timeStamps false", "timeStamps true"), r"line 3: files with time stamps are not read"),
        (TS.replace("1,2,3:4", "(0,1),(1,2):4"), r"line 7: has time stamps in brackets"),
        (TS.replace("true walk", "yes walk"), r"line 5: @classLabel must be true or false"),
        (TS.replace("@problemName", "problemName"), r"line 2: a line of the header begins with @"),
        (TS.split("@data")[0], r"has no line @data"),
        (HEADER, r"has no items after @data"),
        ("", r"is empty"),
        pytest.param(gzip.compress(TS.encode())[:40], r"damaged or cut short", id="cut"),
    ],
)
def test_bad_ts_files_are_refused_at_the_line(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        load(put(tmp_path, "bad.ts", content))


def test_training_and_test_files_are_the_official_parts(tmp_path, monkeypatch):
    put(tmp_path, "Walks_TRAIN.ts", TS)
    put(tmp_path, "Walks_TEST.ts.gz", gzip.compress(TS.encode()))
    found = load(tmp_path / "Walks")
    assert found.split.tolist() == ["train", "train", "test", "test"]
    (tmp_path / "data" / "mts").mkdir(parents=True)
    put(tmp_path / "data" / "mts", "Steps.ts", TS)
    monkeypatch.setenv("TAMIS_DATA", str(tmp_path / "data"))
    assert load("Steps").n_items == 2
    with pytest.raises(DataError, match="Step: is no file"):
        load("Step")
    put(tmp_path, "Walks_TEST.ts.gz", gzip.compress(TS.replace("2:NaN,1", "2:1,1:1,1").replace("?", "3").encode()))
    with pytest.raises(DataError, match=r"2 variables|the first item"):
        load(tmp_path / "Walks")


def test_npz_archives_are_items_variables_time(tmp_path):
    X = np.arange(24.0).reshape(2, 3, 4)
    np.savez(tmp_path / "a.npz", X=X, y=[0, 1])
    np.testing.assert_array_equal(load(tmp_path / "a.npz").items[1], X[1].T)
    np.testing.assert_array_equal(load(tmp_path / "a.npz", layout="time-variables").items[1], X[1])
    # Four names fit the last axis alone.
    np.savez(tmp_path / "b.npz", X_train=X, y_train=[0, 1], X_test=X[:1], y_test=[1], channels=list("abcd"))
    found = load(tmp_path / "b.npz")
    assert (found.variables.tolist(), found.split.tolist()) == (list("abcd"), ["train", "train", "test"])
    np.savez(tmp_path / "c.npz", X=X, y=[0, 1], n_train=1)
    assert load(tmp_path / "c.npz").split.tolist() == ["train", "test"]
    np.savez(tmp_path / "d.npz", X=X)
    assert load(tmp_path / "d.npz").y is None


def test_bad_archives_are_refused(tmp_path):
    np.savez(tmp_path / "flat.npz", X=np.ones((2, 3)), y=[0, 1])
    with pytest.raises(DataError, match="has no array X of numbers in three dimensions"):
        load(tmp_path / "flat.npz")
    with pytest.raises(DataError, match="is damaged"):
        load(put(tmp_path, "cut.npz", (tmp_path / "flat.npz").read_bytes()[:90]))
    np.savez(tmp_path / "half.npz", X_train=np.ones((2, 3, 4)), y_train=[0, 1], X_test=np.ones((1, 3, 4)))
    with pytest.raises(DataError, match="some parts have labels"):
        load(tmp_path / "half.npz")
    np.savez(tmp_path / "objects.npz", X=np.array([[["a"]], [[None]]], dtype=object))
    with pytest.raises(DataError, match="plain arrays"):
        load(tmp_path / "objects.npz")


LONG = pl.DataFrame(
    {
        "trial": ["x", "y", "x", "x", "y"],
        "when": [3, 1, 1, 2, 0],
        "foot": [0.3, 1.0, 0.1, 0.2, 0.5],
        "hand": [9.0, None, 7.0, 8.0, 2.0],
        "kind": ["walk", "rest", "walk", "walk", "rest"],
    }
)


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet"])
def test_long_tables_are_put_in_order(tmp_path, form):
    path = tmp_path / f"long.{form}"
    if form == "parquet":
        LONG.write_parquet(path)
    else:
        text = LONG.write_csv().encode()
        path.write_bytes(gzip.compress(text) if form == "csv.gz" else text)
    found = load(path, "kind", item="trial", time="when")
    assert (found.variables.tolist(), found.y.tolist()) == (["foot", "hand"], ["walk", "rest"])
    np.testing.assert_array_equal(found.items[0], [[0.1, 7], [0.2, 8], [0.3, 9]])
    np.testing.assert_array_equal(found.items[1], [[0.5, 2], [1.0, np.nan]])


def test_columns_with_usual_names_are_found_and_times_are_optional(tmp_path):
    plain = LONG.rename({"trial": "Item", "kind": "class"}).drop("when")
    plain.write_csv(tmp_path / "plain.csv")
    found = load(tmp_path / "plain.csv")
    np.testing.assert_array_equal(found.items[0][:, 0], [0.3, 0.1, 0.2])
    assert found.target == "class"


def test_decimal_commas_are_read_as_everywhere(tmp_path):
    put(tmp_path, "c.csv", "item;time;foot;hand;class\n1;0;0,5;1;a\n1;1;1,5;2;a\n2;0;2,5;3;b\n2;1;3,5;4;b\n")
    found = load(tmp_path / "c.csv", reading=Reading(decimal=","))
    assert found.items[0][:, 0].tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
        ({}, {}, r"no column is called item, item_id"),
        ({}, {"item": "subject"}, r"there is no column called 'subject' for --item"),
        ({"foot": ["a", "b", "c", "d", "e"]}, {"item": "trial", "time": "when"}, r"column 'foot': holds words"),
        ({"when": [1, 1, 1, 2, 0]}, {"item": "trial", "time": "when"}, r"item x has two rows of the same time, 1"),
        ({"when": [1, 1, None, 2, 0]}, {"item": "trial", "time": "when"}, r"there are rows without a time"),
        ({"trial": ["x", None, "x", "x", "y"]}, {"item": "trial"}, r"row 2 names no item"),
        ({"kind": ["walk", "rest", "rest", "walk", "rest"]}, {"item": "trial"}, r"item x has more than one value"),
    ],
)
def test_bad_long_tables_are_refused(tmp_path, change, given, message):
    LONG.with_columns(**{name: pl.Series(values) for name, values in change.items()}).write_csv(tmp_path / "long.csv")
    with pytest.raises(DataError, match=message):
        load(tmp_path / "long.csv", "kind", **given)


def test_options_of_another_format_are_refused(tmp_path):
    ts = put(tmp_path, "walks.ts", TS)
    with pytest.raises(DataError, match=r"--item is not for \.ts files"):
        load(ts, item="item")
    LONG.write_csv(tmp_path / "long.csv")
    with pytest.raises(DataError, match="--layout is not for long tables"):
        load(tmp_path / "long.csv", "kind", item="trial", layout="time-variables")
    with pytest.raises(DataError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(DataError, match="takes a path, a name or a Series"):
        load(7)
    series = Series.of([[[1.0, 2.0]]])
    assert load(series) is series


def test_the_public_sets_are_as_published(shared_data, monkeypatch):
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    sizes = {}
    for name in ("BasicMotions", "JapaneseVowels", "ERing", "Libras", "bci2_datasetIV_finger"):
        found = load(name)
        train = int((found.split == "train").sum())
        sizes[name] = (found.n_items, found.n_variables, found.lengths.min(), found.lengths.max(), train)
    assert sizes == {
        "BasicMotions": (80, 6, 100, 100, 40),
        "JapaneseVowels": (640, 12, 7, 29, 270),
        "ERing": (300, 4, 65, 65, 30),
        "Libras": (360, 2, 45, 45, 180),
        "bci2_datasetIV_finger": (416, 28, 50, 50, 316),
    }
