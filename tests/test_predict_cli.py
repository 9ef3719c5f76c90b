"""``tamis predict`` as a user types it: columns by name, new words, missing things, and refusals."""

import json

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from tamis.base.predictions import predict_rows
from tamis.compose.align_columns import align_columns
from tamis.compose.model_card import card_of
from tamis.compose.model_file import load_model, save_model
from tamis.compose.recipe import recipe
from tamis.data import load
from tamis.data.load import Sought


def _flowers(n: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    kind = np.arange(n) % 2
    return pl.DataFrame(
        {
            "length": (3 * kind + rng.normal(size=n)).round(3),
            "width": rng.normal(size=n).round(3),
            "colour": np.where((kind + (rng.random(n) < 0.1)) % 2, "red", "blue"),
            "grade": [f"{i % 3}" if i // 2 % 2 else "A" for i in range(n)],
            "noise": rng.normal(size=n).round(3),
            "kind": np.where(kind, "tulip", "rose"),
        }
    )


@pytest.fixture
def garden(tmp_path):
    """A table and a model of two of its columns, one a number and one a word."""
    _flowers().write_csv(tmp_path / "flowers.csv")
    return tmp_path


def _model(folder, text="ssv(2) | knn(3)", data="flowers.csv", target="kind"):
    found = load(str(folder / data), target)
    model = recipe(text).fit(found.X, found.y)
    path = folder / "m.tamis"
    save_model(path, model, card_of(model, found))
    return path, model, found


def _refusal(answer) -> str:
    code, out, error = answer
    assert code == 2
    assert out == ""
    assert error.startswith("tamis: ")
    assert error.count("\n") == 1
    return error


def _facts(answer) -> dict:
    code, out, error = answer
    assert code == 0, error
    return json.loads(out)


def test_answers_are_the_models_own(tamis, garden):
    path, model, found = _model(garden)
    facts = _facts(tamis("predict", path, garden / "flowers.csv", "--json"))
    said = predict_rows(model, found.X)
    assert [row["class"] for row in facts["predictions"]] == said.labels.tolist()
    np.testing.assert_allclose([row["probability"] for row in facts["predictions"]], said.probabilities.max(axis=1))
    assert facts["predictions"][0]["probabilities"].keys() == {"rose", "tulip"}
    assert facts["error"]["accuracy"] == np.mean(said.labels == found.y)
    assert facts["error"]["rows"] == 60
    assert any("fitted on" in note for note in facts["notes"])


def test_the_table_and_the_line_of_error(tamis, garden):
    path, _, _ = _model(garden)
    _flowers(30).write_csv(garden / "some.csv")
    code, out, error = tamis("predict", path, garden / "some.csv")
    assert code == 0
    assert "some: 30 rows, predicted by ssv(2) | knn(3)" in out
    assert "and 10 more rows" in out
    assert "error on the 30 rows with classes: BER 0." in out
    assert error == ""


def test_columns_are_found_by_name(tamis, garden):
    path, _, _ = _model(garden)
    frame = _flowers()
    expected = _facts(tamis("predict", path, garden / "flowers.csv", "--json"))["predictions"]
    rng = np.random.default_rng(1)
    for name, changed in {
        "moved": frame.select(rng.permutation(frame.columns).tolist()),
        "more": frame.with_columns(extra=pl.lit("word"), other=pl.lit(1.0)),
        "fewer": frame.select("colour", "length"),
        "hollow": frame.with_columns(width=pl.lit(None, pl.Float64), kind=pl.lit(None, pl.String)),
    }.items():
        changed.write_csv(garden / f"{name}.csv")
        changed.write_parquet(garden / f"{name}.parquet")
        for ending in ("csv", "parquet"):
            facts = _facts(tamis("predict", path, garden / f"{name}.{ending}", "--json"))
            assert facts["predictions"] == expected, name
            assert (facts["error"] is None) == (name in ("fewer", "hollow"))
            notes = " ".join(facts["notes"])
            assert ("2 columns are unknown to the model and left out: 'extra', 'other'" in notes) == (name == "more")
            assert ("3 columns are not in the data" in notes) == (name == "fewer")


def test_a_column_that_is_used_must_be_there(tamis, garden):
    path, _, _ = _model(garden)
    _flowers().drop("colour").write_csv(garden / "less.csv")
    said = _refusal(tamis("predict", path, garden / "less.csv"))
    assert "less: lacks 1 of the 2 columns the model uses: 'colour'" in said
    # Rows divided by their length need every column.
    _flowers().drop("colour", "grade").write_csv(garden / "numbers.csv")
    path, _, _ = _model(garden, "normalize | cc(1) | svm(linear)", "numbers.csv")
    _flowers().select("length").with_columns(one=1).write_csv(garden / "less.csv")
    said = _refusal(tamis("predict", path, garden / "less.csv"))
    assert "lacks 2 of the 3 columns the model uses: 'width', 'noise'" in said


def test_new_words_are_told_of_and_answered(tamis, garden):
    path, _, _ = _model(garden, "encode | ssv(2) | knn(3)")
    frame = _flowers().with_columns(colour=pl.when(pl.col("length") > 2).then(pl.lit("green")).otherwise("colour"))
    frame.write_csv(garden / "new.csv")
    facts = _facts(tamis("predict", path, garden / "new.csv", "--json"))
    assert len(facts["predictions"]) == 60
    count = int((frame["colour"] == "green").sum())
    assert f"column 'colour' has words in {count} rows that were not there in training: 'green'" in facts["notes"]


def test_words_that_are_numbers_here_stay_words(garden):
    path, model, found = _model(garden, "encode | knn(3)")
    assert found.X.schema["grade"] == pl.String
    _, card = load_model(path)
    some = _flowers().filter(pl.col("grade") != "A")
    some.write_csv(garden / "some.csv")
    data = load(str(garden / "some.csv"), Sought("kind", card.nominal))
    assert data.X.schema["grade"] == pl.String
    X, notes = align_columns(card, data.X, data.feature_names, "some")
    assert notes == []
    np.testing.assert_array_equal(
        predict_rows(model, X).labels, predict_rows(model, found.X).labels[found.X["grade"] != "A"]
    )
    # A format that keeps numbers as numbers gives the same words.
    some.with_columns(pl.col("grade").cast(pl.Int64)).write_parquet(garden / "some.parquet")
    data = load(str(garden / "some.parquet"), Sought("kind", card.nominal))
    assert align_columns(card, data.X, data.feature_names, "some").X.equals(X)


def test_numbers_that_are_words_here_are_refused(tamis, garden):
    path, _, _ = _model(garden)
    _flowers().with_columns(length=pl.lit("long")).write_csv(garden / "words.csv")
    said = _refusal(tamis("predict", path, garden / "words.csv"))
    assert "words: column 'length' holds text ('long'), and the model takes numbers there" in said


def test_missing_values_are_named_where_the_model_takes_none(tamis, garden):
    _flowers().drop("colour", "grade").write_csv(garden / "numbers.csv")
    path, _, _ = _model(garden, "cc(1) | svm(linear)", "numbers.csv")
    frame = _flowers().drop("colour", "grade")
    hole = pl.when(pl.int_range(60) == 4).then(None).otherwise("length").alias("length")
    frame.with_columns(hole).write_csv(garden / "holes.csv")
    said = _refusal(tamis("predict", path, garden / "holes.csv"))
    assert "holes: row 5 has no value in column 'length'" in said
    path, _, _ = _model(garden, "impute | cc(1) | svm(linear)", "numbers.csv")
    assert len(_facts(tamis("predict", path, garden / "holes.csv", "--json"))["predictions"]) == 60


def test_the_csv_of_answers(tamis, garden):
    path, model, found = _model(garden)
    out = garden / "out.csv"
    assert tamis("predict", path, garden / "flowers.csv", "--output", out)[0] == 0
    frame = pl.read_csv(out)
    assert frame.columns == ["row", "class", "probability of rose", "probability of tulip"]
    assert frame["row"].to_list() == list(range(1, 61))
    np.testing.assert_allclose(frame[:, 2:].to_numpy(), predict_rows(model, found.X).probabilities)
    _flowers().drop("colour", "grade").write_csv(garden / "numbers.csv")
    path, model, found = _model(garden, "svm(linear)", "numbers.csv")
    assert tamis("predict", path, garden / "numbers.csv", "--output", out)[0] == 0
    frame = pl.read_csv(out)
    assert frame.columns == ["row", "class", "margin"]
    np.testing.assert_allclose(frame["margin"], np.abs(model.decision_function(found.X)))


def test_the_true_classes_may_be_called_otherwise(tamis, garden):
    path, _, _ = _model(garden)
    _flowers(20).rename({"kind": "truth"}).write_csv(garden / "t.csv")
    assert _facts(tamis("predict", path, garden / "t.csv", "--json"))["error"] is None
    assert _facts(tamis("predict", path, garden / "t.csv", "--target", "truth", "--json"))["error"]["rows"] == 20
    assert "no column is called 'none'" in _refusal(tamis("predict", path, garden / "t.csv", "--target", "none"))


def test_classes_that_the_model_does_not_know(tamis, garden):
    path, _, _ = _model(garden)
    frame = _flowers(20)
    frame.with_columns(kind=pl.when(pl.int_range(20) < 5).then(pl.lit("lily")).otherwise("kind")).write_csv(
        garden / "lily.csv"
    )
    facts = _facts(tamis("predict", path, garden / "lily.csv", "--json"))
    assert "5 rows are of classes that the model does not know, and count as wrong" in facts["notes"]
    assert facts["error"]["accuracy"] <= 0.75
    frame.with_columns(kind=pl.lit("lily")).write_csv(garden / "lily.csv")
    facts = _facts(tamis("predict", path, garden / "lily.csv", "--json"))
    assert facts["error"] is None
    assert "no error is reported" in facts["notes"][-1]


def _matrix_model(folder, X):
    y = (np.asarray(X.sum(axis=1)).ravel() > 0).astype(int)
    model = recipe("cc(2) | svm(linear)").fit(X, y)
    save_model(folder / "m.tamis", model, card_of(model, X, y))
    return folder / "m.tamis", model, y


def test_columns_without_names_are_counted(tamis, tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 5))
    path, model, y = _matrix_model(tmp_path, X)
    np.savez(tmp_path / "same.npz", X=X, y=y)
    np.savez(tmp_path / "bare.npz", X=X)
    np.savez(tmp_path / "wide.npz", X=np.hstack([X, X]))
    for name in ("same", "bare"):
        facts = _facts(tamis("predict", path, tmp_path / f"{name}.npz", "--json"))
        assert [row["class"] for row in facts["predictions"]] == model.predict(X).tolist()
        assert (facts["error"] is None) == (name == "bare")
    said = _refusal(tamis("predict", path, tmp_path / "wide.npz"))
    assert "wide: has 10 columns without names, and the model takes 5" in said
    # A table with names, for a model of columns that had none: the order decides.
    pl.DataFrame(X, schema=list("abcde")).write_csv(tmp_path / "named.csv")
    facts = _facts(tamis("predict", path, tmp_path / "named.csv", "--json"))
    assert [row["class"] for row in facts["predictions"]] == model.predict(X).tolist()


def test_sparse_files_do_not_tell_of_zeros_at_their_end(tamis, tmp_path):
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.6))
    path, model, y = _matrix_model(tmp_path, X)
    short = X[:, :4]
    dump_svmlight_file(short, y, str(tmp_path / "short.svm"), zero_based=False)
    wide = sp.csr_array(sp.hstack([X, X[:, :2]]))
    dump_svmlight_file(wide, y, str(tmp_path / "wide.svm"), zero_based=False)
    full = short.copy()
    full.resize((30, 6))
    for name, rows in (("short", full), ("wide", X)):
        facts = _facts(tamis("predict", path, tmp_path / f"{name}.svm", "--json"))
        assert [row["class"] for row in facts["predictions"]] == model.predict(rows).tolist()
        assert facts["notes"][0].startswith("2 columns are")
    # Dense rows lack columns that are not zeros.
    np.savez(tmp_path / "short.npz", X=short.toarray())
    assert "has 4 columns without names" in _refusal(tamis("predict", path, tmp_path / "short.npz"))


def test_sparse_arff_without_a_class(tamis, tmp_path):
    head = "@relation r\n" + "".join(f"@attribute x{j} numeric\n" for j in range(1, 6))
    (tmp_path / "t.arff").write_text(head + "@data\n{0 1, 4 2.5}\n{1 3}\n")
    data = load(str(tmp_path / "t.arff"), Sought("class"))
    assert data.n_rows == 0
    np.testing.assert_array_equal(data.unlabelled[""].toarray(), [[1, 0, 0, 0, 2.5], [0, 3, 0, 0, 0]])
    X = np.random.default_rng(0).normal(size=(30, 5))
    path, _, _ = _matrix_model(tmp_path, X)
    assert len(_facts(tamis("predict", path, tmp_path / "t.arff", "--json"))["predictions"]) == 2


def test_parts_without_classes_are_answered_too(tamis, tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 5))
    path, model, y = _matrix_model(tmp_path, X)
    np.savez(tmp_path / "parts.npz", X_train=X[:20], y_train=y[:20], X_test=X[20:])
    rows = _facts(tamis("predict", path, tmp_path / "parts.npz", "--json"))["predictions"]
    assert [row["part"] for row in rows] == ["train"] * 20 + ["test"] * 10
    assert [row["class"] for row in rows] == model.predict(X).tolist()


def test_a_model_of_a_frame_in_python(tamis, tmp_path):
    frame = _flowers().select("length", "width", "kind")
    model = recipe("cc(1) | svm(linear)").fit(frame[:, :2], frame["kind"].to_numpy())
    card = card_of(model, frame[:, :2], frame["kind"].to_numpy(), target="kind")
    save_model(tmp_path / "m.tamis", model, card)
    frame.write_csv(tmp_path / "f.csv")
    facts = _facts(tamis("predict", tmp_path / "m.tamis", tmp_path / "f.csv", "--json"))
    assert [row["class"] for row in facts["predictions"]] == model.predict(frame[:, :2]).tolist()


def test_refusals_are_one_sentence_and_leave_nothing(tamis, garden):
    path, _, _ = _model(garden)
    before = sorted(garden.iterdir())
    flowers = garden / "flowers.csv"
    assert "no such file" in _refusal(tamis("predict", garden / "none.tamis", flowers))
    assert "not a model file" in _refusal(tamis("predict", flowers, flowers))
    assert "no such file" in _refusal(tamis("predict", path, garden / "none.csv"))
    assert "must end in .csv" in _refusal(tamis("predict", path, flowers, "--output", garden / "a.txt"))
    assert "cannot be written" in _refusal(tamis("predict", path, flowers, "--output", garden / "no" / "a.csv"))
    assert sorted(garden.iterdir()) == before
    found = load(str(flowers), "kind")
    selector = recipe("encode | cc(1)").fit(found.X, found.y)
    save_model(garden / "s.tamis", selector, card_of(selector, found))
    assert "does not predict" in _refusal(tamis("predict", garden / "s.tamis", flowers))
    for name, text in {"empty": "", "head": "length,colour\n", "cut": "length,colour\n1.5\n"}.items():
        (garden / f"{name}.csv").write_text(text)
        assert name in _refusal(tamis("predict", path, garden / f"{name}.csv"))
    (garden / "inf.csv").write_text("length,colour\n1,red\ninf,red\n")
    assert "infinite" in _refusal(tamis("predict", path, garden / "inf.csv"))
