"""The options of reading on the commands, the notes that they print, and 'tamis data FILE'."""

import json
from pathlib import Path

import numpy as np
import pytest

from tamis.cli import data, genes, mine, predict, rank, select, validate

COMMANDS = {
    "describe": data.describe,
    "genes": genes.genes,
    "mine": mine.mine,
    "predict": predict.predict,
    "rank": rank.rank,
    "select": select.select,
    "validate": validate.validate,
}


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A German export with decimal commas, a spelling of missing of its own and a row without a class."""
    rng = np.random.default_rng(0)
    lines = ["wbc;hb;outcome"]
    for i in range(40):
        lines.append(f"{rng.normal() + 2 * (i % 2):.3f};{rng.normal():.3f};{['ill', 'well'][i % 2]}".replace(".", ","))
    lines += ["lost;0,5;ill", "1,5;0,5;"]
    path = tmp_path / "lab.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_reads_data_has_the_options(tamis, name: str) -> None:
    code, text, _ = tamis(*(["data"] if name == "describe" else []), name, "--help")
    assert code == 0
    for option in ("--decimal", "--na", "--encoding", "--delimiter", "--transpose", "--labels", "--on"):
        assert f"  {option} " in text
    assert "reading" not in COMMANDS[name].__annotations__


def test_notes_go_to_standard_error(tamis, lab: Path) -> None:
    code, text, error = tamis("rank", lab, "--target", "outcome", "--na", "lost", "--json")
    assert code == 0
    assert json.loads(text)["rows"] == 41
    assert error.splitlines() == [
        "note: numbers have decimal commas, such as 1,764".replace(
            "1,764", lab.read_text().split("\n")[1].split(";")[0]
        ),
        "note: 1 row without a class is left out",
    ]


def test_a_plain_table_has_no_notes(tamis, tmp_path: Path) -> None:
    (tmp_path / "plain.csv").write_text("a,class\n1,p\n2,q\n3,p\n4,q\n")
    assert tamis("rank", tmp_path / "plain.csv")[2] == ""


def test_junk_is_refused_with_the_option_that_helps(tamis, lab: Path) -> None:
    code, _, error = tamis("data", lab, "--target", "outcome")
    assert code == 2
    assert "line 42, column 'wbc': 'lost' is not a number as nearly all of the column is" in error
    assert error.endswith("; --na lost reads it as missing\n")


def test_data_and_a_file_describes_it(tamis, lab: Path) -> None:
    short = tamis("data", lab, "--target", "outcome", "--na", "lost")
    assert short == tamis("data", "describe", lab, "--target", "outcome", "--na", "lost")
    assert short[0] == 0
    assert tamis("data", "xor")[0] == 0
    code, _, error = tamis("data", "desribe")
    assert (code, "No such command 'desribe'" in error) == (2, True)
    code, _, error = tamis("data", "nothing.csv")
    assert (code, error) == (2, "tamis: nothing.csv: no such file\n")


def test_a_bad_option_is_one_sentence(tamis, lab: Path) -> None:
    assert tamis("rank", lab, "--decimal", "x")[2] == "tamis: decimal must be '.' or ','; got 'x'\n"
    assert tamis("rank", "xor", "--transpose")[2] == "tamis: xor: --transpose is not for generated data\n"
    assert tamis("rank", "xor", "--decimal", ",")[0] == 0


def test_a_model_from_genes_as_rows_with_labels_predicts(tamis, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3, 30)) + 3 * np.array([1, 0, 0])[:, None] * (np.arange(30) % 2)
    names = [f"s{i}" for i in range(30)]
    rows = [["gene", *names], *([f"g{j}", *(f"{v:.4f}" for v in X[j])] for j in range(3))]
    (tmp_path / "genes.txt").write_text("\n".join("\t".join(row) for row in rows))
    (tmp_path / "labels.csv").write_text("sample,kind\n" + "".join(f"s{i},{'ab'[i % 2]}\n" for i in range(29, -1, -1)))
    options = ("--transpose", "--labels", tmp_path / "labels.csv", "--on", "sample")
    model = tmp_path / "m.tamis-model"
    code, text, error = tamis("select", tmp_path / "genes.txt", "cc(1) | knn(3)", *options, "--save", model)
    assert (code, "g0" in text) == (0, True), error
    assert "--transpose --labels" in text
    code, text, error = tamis("predict", model, tmp_path / "genes.txt", *options, "--json")
    found = json.loads(text)
    assert (code, found["rows"], found["error"]["rows"]) == (0, 30, 30)
    assert found["error"]["accuracy"] > 0.9
    code, text, _ = tamis("predict", model, tmp_path / "genes.txt", "--transpose", "--json")
    assert [row["class"] for row in json.loads(text)["predictions"]] == [row["class"] for row in found["predictions"]]


def test_make_messy(tamis, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    code, text, _ = tamis("data", "make", "messy", out, "--seed", 3)
    assert (code, text) == (0, f"{out}: 300 rows, 60 features, class column 'outcome'\n")
    assert tamis("data", "make", "messy", tmp_path / "few.csv", "--rows", 20)[1].split()[1] == "20"
    code, text, error = tamis("data", "describe", out, "--target", "outcome", "--json")
    assert (code, json.loads(text)["nominal"], json.loads(text)["identifiers"]) == (0, 6, 2)
    assert "note: left out: patient_id (an identifier: 300 values in 300 rows)" in error.splitlines()
    assert "messy" in tamis("data", "make", "mesy", out)[2]
