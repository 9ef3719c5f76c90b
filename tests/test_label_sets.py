"""Several labels a row: reading them in any form, leaving out, strata, and the note on a class column."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import MultiLabelBinarizer

import tamis
from tamis.base.errors import TamisError
from tamis.data.label_sets import LabelSets, several_labels_note

#: Rows of labels, of which the first has two: text needs the mark somewhere.
sets = st.lists(st.sets(st.sampled_from("abcdef"), max_size=4), min_size=1, max_size=12).map(
    lambda rows: [{"a", "b"}, *rows]
)


@given(sets)
def test_all_forms_say_the_same_as_scikit_learn(rows: list[set[str]]) -> None:
    peer = MultiLabelBinarizer()
    indicator = peer.fit_transform(rows)
    joined = [" | ".join(row) for row in rows]
    names = peer.classes_.tolist()
    forms = [
        LabelSets.of(rows),
        LabelSets.of([sorted(row) for row in rows]),
        LabelSets.of(np.array(joined), mark="|"),
        LabelSets.of(pl.Series(joined).to_list(), mark="|"),
        LabelSets.of(indicator, names=names),
        LabelSets.of(sp.csc_matrix(indicator), names=names),
        LabelSets.of(pl.DataFrame(indicator, schema=names)),
    ]
    for found in forms:
        assert found.names.tolist() == names
        assert np.array_equal(found.dense(), indicator)
        assert found.sizes.tolist() == indicator.sum(axis=0).tolist()
        assert found.labels_per_row.tolist() == [len(row) for row in rows]
        assert all(np.array_equal(found.has(j), indicator[:, j] == 1) for j in range(len(names)))
    again = LabelSets.of(forms[0].joined())
    assert np.array_equal(again.dense(), indicator)


def test_rows_without_labels_stay() -> None:
    found = LabelSets.of(np.array(["a;b", "", None, float("nan"), " ; a ;;a"], dtype=object))
    assert found.joined().tolist() == ["a;b", "", "", "", "a"]
    assert found.rows([4, 1]).joined().tolist() == ["a", ""]
    assert found.rows(np.array([True, False, False, False, True])).sizes.tolist() == [2, 1]


def test_a_longer_mark_and_a_comma() -> None:
    assert LabelSets.of(["a, b", "b"], mark=",").names.tolist() == ["a", "b"]
    assert LabelSets.of(["a and b", "b"], mark=" and ").names.tolist() == ["a", "b"]


def test_labels_with_few_rows_are_left_out_with_a_note() -> None:
    labels = LabelSets.of(["a;b;z"] * 3 + ["a;z"] * 4 + ["c;z", "d;z", "z"])
    kept = labels.kept(min_rows=2)
    # z is in all rows, so nothing can be learned of it.
    assert kept.names.tolist() == ["a", "b"]
    assert kept.left_out == {"c": 1, "d": 1, "z": 10}
    assert kept.n_rows == labels.n_rows
    assert kept.notes == ("3 labels are left out, in brackets their rows: z (10), c (1), d (1)",)
    assert labels.kept(top=1).names.tolist() == ["a"]
    assert labels.kept(top=1).kept(min_rows=3).left_out == {"b": 3, "c": 1, "d": 1, "z": 10}
    assert LabelSets.of(["a;b", "b", "c"]).kept().notes == ()


def test_many_labels_left_out_are_counted() -> None:
    labels = LabelSets.of([["a"], ["a"], []] + [[f"l{i}"] for i in range(8)])
    assert labels.kept(min_rows=2).notes[0].startswith("8 labels are left out, in brackets their rows: l0 (1), l1 (1)")
    assert labels.kept(min_rows=2).notes[0].endswith(" and 3 more")


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (["a|b", "b"], {}, "the mark ';' is in none of the 2 classes, of which 'a|b' is one"),
        (["a", "b"], {"mark": ""}, "the mark between labels must be text"),
        ([["a"], "b"], {}, "lists in some rows and text in others"),
        (np.array([[0, 2], [1, 0]]), {}, "holds 0 and 1 alone"),
        (np.array([["a", "b"]]), {}, "holds 0 and 1 alone"),
        (np.array([[0.0, np.nan]]), {}, "holds 0 and 1 alone"),
        (np.eye(2), {"names": ["a"]}, "1 different names for 2 labels"),
        (np.eye(2), {"names": ["a", "a"]}, "1 different names for 2 labels"),
    ],
)
def test_bad_labels_are_refused(labels, options, message) -> None:
    with pytest.raises(TamisError, match=message.replace("|", r"\|").replace("(", r"\(")):
        LabelSets.of(labels, **options)


@pytest.mark.parametrize("labels", [[["a"], ["a"]], [[], []], [["a"], ["b"]]])
def test_nothing_is_left(labels) -> None:
    with pytest.raises(TamisError, match="no label is left: each needs 2 rows"):
        LabelSets.of(labels).kept(min_rows=2)


@pytest.mark.parametrize("options", [{"top": 0}, {"min_rows": 0}, {"top": 1.5}])
def test_bad_limits_are_refused(options) -> None:
    with pytest.raises(TamisError, match="must be a whole number of 1 or more"):
        LabelSets.of(["a;b", "b", ""]).kept(**options)


@given(sets)
def test_the_stratum_of_a_row_is_its_rarest_label(rows: list[set[str]]) -> None:
    labels = LabelSets.of(rows)
    for row, stratum in zip(labels.dense(), labels.strata().tolist(), strict=True):
        if stratum < 0:
            assert not row.any()
        else:
            assert row[stratum]
            assert labels.sizes[stratum] == labels.sizes[row].min()


def _topics(mark: str, rng: np.random.Generator, share: float) -> np.ndarray:
    names = [f"topic{i}" for i in range(8)]
    sizes = np.where(rng.random(400) < share, rng.integers(2, 4, 400), 1)
    return np.array([mark.join(rng.choice(names, size, replace=False)) for size in sizes])


@pytest.mark.parametrize("mark", [";", "|", ", "])
@pytest.mark.parametrize("share", [0.2, 0.9])
def test_joined_labels_are_noticed(mark: str, share: float) -> None:
    note = several_labels_note(_topics(mark, np.random.default_rng(0), share), "topics")
    assert note is not None
    assert note.startswith("the class 'topics' looks like several labels a row (topic")
    assert note.endswith(f"tamis validate --several {mark.strip()!r} reads them so")


@pytest.mark.parametrize(
    "y",
    [
        np.arange(9),
        np.array([]),
        np.array(["ill", "well", "ill"]),
        np.array([f"Doe {i}, John" for i in range(20)]),
        np.array(["lung; left", "lung; right", "liver"] * 10),
        _topics(";", np.random.default_rng(1), 0.02),
    ],
)
def test_other_classes_are_not(y: np.ndarray) -> None:
    assert several_labels_note(y, "topics") is None


def test_loading_notes_joined_labels(tmp_path) -> None:
    y = _topics("|", np.random.default_rng(0), 0.5)
    frame = pl.DataFrame({"a": np.random.default_rng(0).normal(size=y.size), "topics": y})
    frame.write_csv(tmp_path / "news.csv")
    notes = [note for note in tamis.load(tmp_path / "news.csv", "topics").notes if "several labels" in note]
    assert len(notes) == 1
    frame.with_columns(topics=pl.Series(y.astype("U6"))).write_csv(tmp_path / "plain.csv")
    assert not [note for note in tamis.load(tmp_path / "plain.csv", "topics").notes if "several labels" in note]
