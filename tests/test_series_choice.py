"""``choose_variables`` and ``tamis series``: the choice, its honest error, the page."""

import json
from html.parser import HTMLParser

import numpy as np
import pytest
from typer.testing import CliRunner

import tamis
from tamis.base.errors import TamisError
from tamis.cli.main import app
from tamis.data import load as load_table
from tamis.reporting.figures_series import choice_figures
from tamis.reporting.series_page import choice_page
from tamis.series import Series, choose_variables, planted
from tamis.validation.many import validate_many


@pytest.fixture(scope="module")
def choice():
    return choose_variables(planted(60, 6, 40), folds=4, inner_folds=3, compare=True)


def test_the_curve_is_that_of_plain_validations(choice):
    table = planted(60, 6, 40).correlations()
    recipes = [f"standardize | corona({size}) | svm(linear)" for size in range(2, 7)]
    for one, expected in zip(choice.curve.values(), validate_many(recipes, table, folds=4), strict=True):
        assert one.mean == expected.summary()["ber"].mean
    assert [*choice.curve] == [*choice.beside["autoregression"]] == [2, 3, 4, 5, 6]


def test_the_choice_is_the_planted_one(choice):
    assert "r1" in choice.variables
    assert {*choice.variables, *choice.left_out} == {"r1", "r2", "r3", "n1", "n2", "n3"}
    assert choice.kept_in_folds["r1"] == 1.0
    assert sum(choice.kept_in_folds.values()) == pytest.approx(len(choice.variables))
    assert choice.honest.mean < 0.15
    new = planted(60, 6, 40, seed=1).only(planted(60, 6, 40).variables.tolist())
    assert np.mean(choice.model.predict(new.correlations().X) == new.y) > 0.85


def test_the_choice_on_noise_is_honest():
    rng = np.random.default_rng(0)
    noise = Series.of(rng.normal(size=(48, 20, 8)), np.arange(48) % 2)
    found = choose_variables(noise, folds=4, inner_folds=3, rule="best")
    assert found.honest.mean > 0.3


def test_sizes_can_be_given_and_the_other_table_taken():
    found = choose_variables(planted(40, 5, 30), by="autoregression", sizes=[4, 2], folds=3, inner_folds=3)
    assert [*found.curve] == [2, 4]
    assert "columns=3" in found.recipe
    assert len(found.variables) in (2, 4)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"by": "means"}, "by must be one of correlations, autoregression"),
        ({"sizes": [1]}, "sizes must be"),
        ({"sizes": [9]}, "sizes must be at most 5"),
        ({"sizes": []}, "at least one number of variables"),
        ({"rule": "any"}, "rule must be one of"),
    ],
)
def test_refuses_in_one_sentence(given, message):
    with pytest.raises(TamisError, match=message):
        choose_variables(planted(20, 5, 20), **given)


def test_needs_classes():
    series = planted(20, 4, 20)
    with pytest.raises(TamisError, match="items have none"):
        choose_variables(Series.of(series.items))
    with pytest.raises(TamisError, match="items have numbers"):
        choose_variables(Series.of(series.items, np.linspace(0.0, 1.0, 20)))


def test_one_variable_is_nothing_to_choose_from():
    one = Series.of([item[:, :1] for item in planted(10, 3, 20).items], np.arange(10) % 2)
    with pytest.raises(TamisError, match="one variable"):
        choose_variables(one)
    with pytest.raises(TamisError, match="nothing to choose"):
        choose_variables(one, by="autoregression")


def test_figures_and_page_show_the_choice(choice, tmp_path):
    assert [*choice_figures(choice)] == ["error_variables", "kept_variables"]
    assert choice.plot().data[0].x is not None
    page = choice.report(tmp_path / "page.html").read_text(encoding="utf-8")
    checker = HTMLParser()
    checker.feed(page)
    assert all(name in page for name in (*choice.variables, *choice.left_out))
    assert "<script" not in page
    assert page == choice_page(choice)


def test_names_from_the_data_are_escaped():
    series = planted(24, 3, 20)
    wild = Series.of(series.items, series.y, variables=["<b>", "a&b", "</td>"], name="<i>")
    page = choice_page(choose_variables(wild, folds=3, inner_folds=3))
    assert "<b>" not in page
    assert "<i>" not in page
    assert "&lt;b&gt;" in page


def run(*arguments):
    return CliRunner().invoke(app, ["series", *arguments])


def test_the_command_prints_the_choice(tmp_path):
    result = run("planted_series", "--folds", "3", "--inner-folds", "3", "--size", "2", "--size", "4")
    assert result.exit_code == 0
    assert "Keep 2 of 12 variables: " in result.stdout
    assert "BER of this way to choose" in result.stdout


def test_the_command_writes_json_and_a_page(tmp_path):
    page = tmp_path / "page.html"
    options = ["--folds", "3", "--inner-folds", "3", "--size", "3", "--report", str(page), "--json"]
    found = json.loads(run("planted_series", *options).stdout)
    assert found["curves"]["correlations"][0]["variables"] == 3
    assert len(found["variables"]) == 3
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_table_goes_to_every_other_command(tmp_path):
    path = tmp_path / "pairs.csv"
    assert run("planted_series", "--table", str(path)).exit_code == 0
    table = load_table(path, "class")
    whole = planted().correlations()
    np.testing.assert_allclose(table.X, whole.X, atol=1e-15)
    assert table.feature_names.tolist() == whole.feature_names.tolist()
    found = tamis.validate("standardize | corona(3) | svm(linear)", table, folds=3)
    assert found.summary()["ber"].mean < 0.1


def test_the_command_refuses_in_one_sentence(tmp_path):
    for arguments, message in (
        (["nothing_here"], "is no file"),
        (["planted_series", "--table", str(tmp_path / "x.txt")], "must end in"),
        (["planted_series", "--size", "99"], "sizes must be at most 12"),
    ):
        result = run(*arguments)
        assert result.exit_code != 0
        assert message in str(result.exception)
