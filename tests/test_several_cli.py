"""Several labels a row on the command line: validate, select and predict, with text."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

NAMES = ["grain", "wheat", "corn", "ship"]


@pytest.fixture
def news(tmp_path: Path) -> Path:
    """Texts of topics that have eight words each, one or more topics a text; 'oats' has a single one."""
    rng = np.random.default_rng(0)
    texts, topics = [], []
    for number in range(90):
        own = [name for name, share in zip(NAMES, (0.5, 0.4, 0.3, 0.2), strict=True) if rng.random() < share] or [
            "earn"
        ]
        words = [f"{name}{rng.integers(8)}" for name in own for _ in range(3)] + [
            f"w{rng.integers(30)}" for _ in "12345"
        ]
        texts.append(" ".join(rng.permutation(words)))
        topics.append(";".join([*own, "oats"] if number == 7 else own))
    pl.DataFrame({"body": texts, "topics": topics}).write_csv(tmp_path / "news.csv")
    return tmp_path / "news.csv"


def _validate(tamis, news: Path, recipe: str, *more: str):
    return tamis("validate", news, recipe, "--target", "topics", "--text", "body", "--folds", "3", *more)


def test_labels_are_validated_one_by_one(tamis, news: Path) -> None:
    code, out, err = _validate(tamis, news, "chi2(20) | svm(linear)", "--several", ";")
    assert code == 0, err
    assert "90 rows" in out
    assert "5 labels" in out
    assert "recipe: words | chi2(20) | svm(linear)" in out
    assert all(word in out for word in ["F1 (micro)", "F1 (macro)", "breakeven (micro)", "Hamming loss", "precision"])
    assert all(name in out for name in [*NAMES, "earn"])
    assert "note: 1 label is left out, in brackets their rows: oats (1)" in err
    assert "looks like several labels" not in err


def test_json_has_everything(tamis, news: Path) -> None:
    more = ["--several", ";", "--top-labels", "2", "--threshold", "f1", "--shared-selection", "--json"]
    code, out, _ = _validate(tamis, news, "chi2(20) | svm(linear)", *more)
    assert code == 0
    found = json.loads(out)
    assert [one["label"] for one in found["labels"]] == ["grain", "wheat"]
    code, out, _ = _validate(tamis, news, "chi2(20) | svm(linear)", *more, "--labelled-only")
    assert code == 0
    assert 0 < len(json.loads(out)["predictions"]["row"]) < len(found["predictions"]["row"])
    assert found["threshold"] == "f1"
    assert found["shared_selection"] is True
    assert found["metrics"]["f1_micro"]["mean"] > 0.8
    assert len(found["metrics"]["f1_micro"]["values"]) == 3
    assert len(found["selected"]["grain"]) == 3
    assert found["selected"]["grain"] == found["selected"]["wheat"]
    assert len(found["predictions"]["labels"]) == 90


def test_many_recipes_are_a_table(tamis, news: Path) -> None:
    code, out, _ = _validate(tamis, news, "chi2({2, 20}) | svm(linear)", "--several", ";")
    assert code == 0
    assert out.index("chi2(20)") < out.index("chi2(2)")
    code, out, _ = _validate(tamis, news, "chi2({2, 20}) | svm(linear)", "--several", ";", "--json")
    assert len(json.loads(out)["models"]) == 2


def test_without_the_option_a_note_offers_it(tamis, news: Path) -> None:
    _, _, err = tamis("data", "describe", news, "--target", "topics", "--text", "body")
    assert "note: the class 'topics' looks like several labels a row (" in err
    assert "tamis validate --several ';' reads them so" in err


def test_a_model_is_saved_and_predicts_sets_of_labels(tamis, news: Path) -> None:
    model = news.with_name("news.tamis-model")
    asked = ["--target", "topics", "--text", "body", "--several", ";"]
    code, out, err = tamis("select", news, "chi2(6) | svm(linear)", *asked, "--save", model, "--json")
    assert code == 0, err
    chosen = json.loads(out)
    assert chosen["validate"].endswith("--several ';'")
    assert all(row["labels"] for row in chosen["selected"])
    code, out, err = tamis("predict", model, news, "--json")
    assert code == 0, err
    found = json.loads(out)
    truth = pl.read_csv(news)["topics"].to_list()
    right = [
        set(row["labels"].split(";")) == set(y.split(";")) for row, y in zip(found["predictions"], truth, strict=True)
    ]
    assert np.mean(right) == pytest.approx(found["error"]["subset_accuracy"])
    assert found["error"]["f1_micro"] > 0.8
    assert set(found["predictions"][0]["scores"]) == {*NAMES, "earn", "oats"}
    bare = news.with_name("bare.csv")
    pl.read_csv(news).drop("topics").write_csv(bare)
    table = news.with_name("out.csv")
    code, out, err = tamis("predict", model, bare, "--output", table)
    assert code == 0, err
    assert "F1" not in out
    assert pl.read_csv(table)["labels"].fill_null("").to_list() == [row["labels"] for row in found["predictions"]]
    code, out, _ = tamis("predict", model, news)
    assert "on the 90 rows with labels: F1 " in out


def test_a_selection_is_printed_with_its_labels(tamis, news: Path) -> None:
    asked = ["--target", "topics", "--text", "body", "--several", ";", "--shared-selection", "--top-labels", "2"]
    code, out, err = tamis("select", news, "chi2(6) | svm(linear)", *asked)
    assert code == 0
    assert "6 of" in out
    assert "grain;wheat" in out
    assert "--several ';' --top-labels 2 --shared-selection" in out
    assert "4 labels are left out" in err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--several", "|"], "the mark '|' is in none of the 90 classes"),
        (["--several", ""], "the mark between labels must be text"),
        (["--top-labels", "2"], "--top-labels goes with --several"),
        (["--min-rows", "2"], "--min-rows goes with --several"),
        (["--labelled-only"], "--labelled-only goes with --several"),
        (["--shared-selection"], "--shared-selection goes with --several"),
        (["--threshold", "f1"], "--threshold goes with --several"),
        (["--several", ";", "--nested"], "--nested is not for several labels a row"),
        (["--several", ";", "--permutations", "3"], "--permutations is not for several"),
        (["--several", ";", "--learning-curve"], "--learning-curve is not for several"),
        (["--several", ";", "--leak-check"], "--leak-check is not for several"),
        (["--several", ";", "--probes", "0.5"], "--probes is not for several"),
        (["--several", ";", "--report", "x.html"], "--report is not for several"),
        (["--several", ";", "--split", "bootstrap"], "--split bootstrap is not for several"),
        (["--several", ";", "--min-rows", "90"], "no label is left"),
    ],
)
def test_refusals(tamis, news: Path, more: list[str], message: str) -> None:
    code, out, err = _validate(tamis, news, "chi2(20) | svm(linear)", *more)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]


def test_a_selection_shared_without_a_ranking_is_refused(tamis, news: Path) -> None:
    code, _, err = _validate(tamis, news, "svm(linear)", "--several", ";", "--shared-selection")
    assert code == 2
    assert "takes a recipe with a ranking" in err
    asked = ["--target", "topics", "--text", "body"]
    code, _, err = tamis("select", news, "chi2(6)", *asked, "--several", ";")
    assert code == 2
    assert "--several takes a recipe that ends in a classifier; chi2 is a score" in err
    code, _, err = tamis("select", news, "chi2(6)", *asked, "--shared-selection")
    assert code == 2
    assert "--shared-selection goes with --several" in err
