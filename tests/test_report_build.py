"""``tamis.report``: from the run file alone, whoever made the run."""

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import tamis
from tamis.base.errors import TamisError
from tamis.data.load import load
from tamis.reporting.run_report import report
from tamis.validation.whole import validate

QUICK: dict[str, Any] = {"trials": 8, "folds": 3, "inner_folds": 3, "engine": "serial", "only": ["cc | knn"]}
QUICK["without"] = ["committee", "blend"]
TYPED = shlex.split("--target kind --trials 8 --folds 3 --inner-folds 3 --engine serial --try 'cc | knn'")
TYPED += ["--without", "committee", "--without", "blend"]


@pytest.fixture(scope="module")
def flowers(folder: Path) -> Path:
    """A table in which one column tells the class."""
    rng = np.random.default_rng(2)
    kind = np.arange(60) % 2
    columns = {f"g{i}": rng.normal(size=60).round(4) for i in range(8)}
    columns["g3"] = (columns["g3"] + 2.2 * kind).round(4)
    pl.DataFrame({**columns, "kind": np.array(["rose", "tulip"])[kind]}).write_csv(folder / "flowers.csv")
    return folder / "flowers.csv"


@pytest.fixture(scope="module")
def run(flowers: Path) -> Path:
    """The run of a search in Python."""
    path = flowers.with_name("python.tamis-run")
    tamis.mine(load(flowers, target="kind"), run=path, **QUICK)
    return path


def timeless(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts without clocks, and without the commands, which name files."""
    for row in facts["models"]["rows"]:
        row["seconds"] = None
    for stage in facts["story"]["stages"]:
        stage["begin"] = stage["end"] = None
    facts["made"] |= {"date": None, "command": None}
    facts["answer"]["commands"] = []
    return facts


def test_the_importance_of_the_planted_column_is_the_largest(run: Path) -> None:
    panel = report(run).facts["features"]
    known = panel["permutation_importance"]
    loss = {panel["table"]["name"][one["place"]]: one["mean"] for one in known["loss"]}
    assert max(loss, key=lambda name: loss[name]) == "g3"
    assert loss["g3"] > 0.1
    assert (known["folds"], known["note"]) == (3, "")


def test_where_fitting_takes_too_long_the_importance_is_not_known(
    flowers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tamis.reporting.note_facts._IMPORTANCE_SECONDS", 0.0)
    tamis.mine(load(flowers, target="kind"), run=tmp_path / "a.tamis-run", **{**QUICK, "trials": 1})
    found = report(tmp_path / "a.tamis-run")
    known = found.facts["features"]["permutation_importance"]
    assert (known["loss"], known["folds"]) == ([], 0)
    assert known["note"].startswith("fitting the model again would take about")
    assert f"The permutation importance is not known: {known['note']}." in found.to_markdown()


def test_a_run_made_in_python_has_the_report_that_the_command_gives(
    tamis: Any, flowers: Path, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, said = tamis("report", run, "--out", "page.html")
    assert (code, out, said) == (0, "report: page.html\n", "")
    assert "The chosen model:" in Path("page.html").read_text(encoding="utf-8")
    assert tamis("mine", flowers, *TYPED, "--run", "typed.tamis-run")[0] == 0
    ours, typed = report(run).facts, report("typed.tamis-run").facts
    assert ours["made"]["command"] is None
    assert ours["answer"]["commands"] == [
        {"what": "make the report again", "command": shlex.join(["tamis", "report", str(run)])}
    ]
    assert typed["made"]["command"].startswith("tamis mine ")
    assert [one["what"] for one in typed["answer"]["commands"]] == ["predict new rows", "make the report again"]
    assert timeless(typed) == timeless(ours)


def test_the_leak_check_is_that_of_a_validation(flowers: Path, run: Path) -> None:
    facts = report(run).facts
    found = validate(facts["answer"]["recipe"], load(flowers, target="kind"), folds=3, leak_check=True)
    assert found.leak is not None
    assert facts["honesty"]["leak"]["leaky"]["mean"] == found.leak.estimates["ber"].mean


def test_the_door_writes_pages_text_and_figures(run: Path, tmp_path: Path) -> None:
    found = tamis.report(run, out=tmp_path / "page.html", compare=run)
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert found.facts["comparison"]["verdict"].startswith("No significant difference")
    assert found.to_markdown().startswith("# ")
    pytest.importorskip("matplotlib", reason="matplotlib is absent: pip install tamis[figures]")
    assert {"roc", "projection"} <= {path.stem for path in found.to_figures(tmp_path / "figures")}


@pytest.mark.parametrize("kind", ["list", "sparse", "numbers", "mixed"])
def test_any_kind_of_rows_has_a_report(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    y = np.arange(40) % 2
    X = (rng.normal(size=(40, 5)) + 2 * y[:, None]).clip(0)
    given: dict[str, Any] = {
        "list": X.tolist(),
        "sparse": sp.csc_array(X),
        "numbers": pd.DataFrame(X, columns=list("abcde")),
        "mixed": pd.DataFrame(X, columns=list("abcde")).assign(b=np.where(y, "red", "blue")),
    }
    options = {**QUICK, "trials": 2, "only": ["knn"]} if kind == "mixed" else {**QUICK, "trials": 2}
    tamis.mine(given[kind], y, run=tmp_path / "a.run", **options)
    facts = report(tmp_path / "a.run").facts
    json.dumps(facts, allow_nan=False)
    expected = list("abcde") if kind in ("numbers", "mixed") else [f"x{i}" for i in range(5)]
    assert sorted(facts["features"]["table"]["name"]) == expected
    assert facts["data"]["nominal"] == (kind == "mixed")


def test_a_search_that_was_stopped_has_no_report_until_it_is_finished(flowers: Path, tmp_path: Path) -> None:
    data, path = load(flowers, target="kind"), tmp_path / "stopped.tamis-run"
    heard = []

    def stop(standing: Any) -> None:
        heard.append(standing)
        if len(heard) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tamis.mine(data, run=path, progress=stop, **QUICK)
    with pytest.raises(TamisError, match=r"holds no finished search; .* resumes where it stopped"):
        report(path)
    tamis.mine(data, run=path, **QUICK)
    assert report(path).facts["kind"] == "mine"
