"""A table as people have them, from the first command to the last: no identifier or date becomes a feature."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tamis as library
from sampled import with_few_draws
from tamis.compose.catalog import catalog
from tamis.data.column_sense import LeftOut
from tamis.data.load import load
from tamis.data.reading import Reading
from tamis.data.synthetic import messy
from tamis.data.write import write

LEFT_OUT = ("patient_id", "sample_no", "admitted", "unit")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("messy") / "clinic.csv"
    write(messy(200, seed=1), path)
    return path


def _line(cells):
    return ",".join('"' + (cell or "").replace('"', '""') + '"' for cell in cells)


@pytest.fixture(scope="module")
def forms(table):
    """The same table as an Excel export of another country, as R writes it, and transposed."""
    frame = pl.read_csv(table, infer_schema=False)
    numbers = [name for name in frame.columns if name.startswith("lab_")]
    commas = frame.with_columns(pl.col(numbers).str.replace(".", ",", literal=True))
    commas.write_csv(table.with_name("excel.csv"), separator=";")
    lines = [_line(frame.columns), *(_line([str(i), *row]) for i, row in enumerate(frame.rows(), 1))]
    table.with_name("r.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    turned = [_line([name, *frame[name]]) for name in frame.columns]
    text = "\n".join([_line(["", *map(str, range(200))]), *turned])
    table.with_name("genes.csv").write_text(text + "\n", encoding="utf-8")
    return {"excel.csv": Reading(), "r.csv": Reading(), "genes.csv": Reading(transpose=True)}


def test_the_features_are_features(table):
    data = load(table, "outcome")
    assert set(LEFT_OUT) <= set(data.left_out)
    assert not set(LEFT_OUT) & set(data.feature_names)
    assert {"visit_date: year", "visit_date: days", "age", "site"} <= set(data.feature_names)
    assert "left out: patient_id (an identifier: 200 values in 200 rows)" in data.notes


def test_all_forms_of_the_table_are_the_same(table, forms):
    first = load(table, "outcome")
    for name, reading in forms.items():
        other = load(table.with_name(name), "outcome", reading=reading)
        assert set(other.feature_names) == set(first.feature_names), name
        assert other.y.tolist() == first.y.tolist()
        same = [float(value or 0) for value in other.X["lab_07"]]
        assert same == [float(value or 0) for value in first.X["lab_07"]]


def test_wishes_on_the_command_line(tamis, table):
    given = ("rank", table, "ssv", "--target", "outcome", "--top", 99, "--json")
    code, out, error = tamis(*given, "--drop", "lab_*", "--keep", "sample_no", "--id", "site", "--kinds", "age=nominal")
    assert code == 0
    found = {row["feature"] for row in json.loads(out)["ranking"]}
    assert not any(name.startswith("lab_") for name in found)
    assert "sample_no" in found
    assert "site" not in found
    assert "note: left out: site (" in error
    for option, value, why in (
        ("--drop", "lob_01", "lab_01"),
        ("--kinds", "age", "COLUMN=KIND"),
        ("--kinds", "age=number", "numeric"),
    ):
        code, _, error = tamis(*given, option, value)
        assert code == 2
        assert why in error.splitlines()[-1]


def test_from_rank_to_predict(tamis, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = tamis("rank", table, "cc", "--target", "outcome", "--json")
    assert code == 0
    assert not {row["feature"] for row in json.loads(out)["ranking"]} & set(LEFT_OUT)
    code, out, _ = tamis("validate", table, "cc(10) | logistic", "--target", "outcome", "--folds", 3, "--json")
    assert code == 0
    quick = ("--trials", 6, "--folds", 2, "--inner-folds", 2, "--engine", "serial", "--try", "cc | {nb, logistic}")
    code, out, _ = tamis("mine", table, "--target", "outcome", *quick, "--json")
    assert code == 0
    assert not set(json.loads(out)["features"]) & {*LEFT_OUT, "visit_date"}
    code, out, error = tamis("report", "clinic.tamis-run")
    assert (code, error) == (0, "")
    # New rows come with everything, in another order.
    frame = pl.read_csv(table, infer_schema=False)
    frame.select(reversed(frame.columns)).head(20).write_csv("new.csv")
    code, out, _ = tamis("predict", "clinic.tamis-model", "new.csv", "--json")
    assert code == 0
    shuffled = [row["class"] for row in json.loads(out)["predictions"]]
    code, out, _ = tamis("predict", "clinic.tamis-model", table, "--json")
    assert [row["class"] for row in json.loads(out)["predictions"]][:20] == shuffled


@pytest.mark.parametrize("name", [one.name for one in catalog().values() if one.kind == "classifier"])
def test_every_classifier_runs_on_it(name, table):
    data = load(table, "outcome")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = library.validate(f"cc(12) | {with_few_draws(name)}", data, folds=2)
    assert 0 <= found.estimates["ber"].mean < 1


@pytest.fixture
def clinic():
    """A pandas frame with an identifier, a date and a few numbers; the second number tells the class."""
    rng = np.random.default_rng(0)
    y = np.repeat(["ill", "well"], 40)
    frame = pd.DataFrame(
        {
            "patient_id": [f"P{i:04}" for i in range(80)],
            "seen": pd.to_datetime("2021-01-01") + pd.to_timedelta(rng.integers(0, 30, 80), unit="D"),
            "noise": rng.normal(size=80),
            "signal": rng.normal(size=80) + 2 * (y == "ill"),
            "ward": rng.choice(["a", "b"], 80),
        }
    )
    return frame, y


def test_a_search_on_a_data_frame_leaves_them_out_too(clinic):
    frame, y = clinic
    quick = {"trials": 4, "only": ["cc | nb"], "engine": "serial", "folds": 2, "inner_folds": 2, "progress": False}
    with pytest.warns(LeftOut, match=r"patient_id \(an identifier: 80 values in 80 rows\)"):
        found = library.mine(frame, y, **quick)
    assert "signal" in found.features
    assert not {"patient_id", "seen"} & set(found.features)
    assert found.plan_.left_out.keys() >= {"patient_id"}
    # New rows may come as they are, in another order, or without what is no feature.
    expected = found.predict(frame)
    assert np.mean(expected == y) > 0.7
    assert found.predict(frame[frame.columns[::-1]]).tolist() == expected.tolist()
    assert found.predict_proba(frame.drop(columns="patient_id")).shape == (80, 2)


def test_a_recipe_on_a_data_frame_leaves_them_out_and_an_estimator_does_not(clinic):
    frame, y = clinic
    with pytest.warns(LeftOut):
        found = library.validate("cc(1) | nb", frame, y, folds=2)
    assert found.recipe == "encode | cc(1) | nb"
    with pytest.warns(LeftOut):
        ranked = library.rank(frame, y, by="ssv")
    assert ranked["feature"][0] == "signal"
    plain = frame[["noise", "signal"]]
    assert library.validate(library.recipe("cc(1) | nb"), plain, y, folds=2).n_features == 2
