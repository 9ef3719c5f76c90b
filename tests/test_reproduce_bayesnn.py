"""The study of Bayesian networks in the challenge: recipes that build, and a piece run on small data."""

from types import SimpleNamespace

import pytest

from planted import with_valid_rows
from study_figures import described
from tamis.cli.reproduce import _print
from tamis.compose.recipe import parse
from tamis.reproduce.bayesnn import _MODELS, STUDY
from tamis.reproduce.framework.challenge_models import measure
from tamis.reproduce.framework.study import Table, Task

pytest.importorskip("blackjax")

SETS = ("arcene", "dexter", "dorothea", "gisette_surrogate", "madelon")


def test_pieces_are_recipes_on_the_five_sets() -> None:
    assert STUDY.data == SETS
    assert [(m.data, m.kind) for m in _MODELS] == [(data, kind) for data in SETS for kind in ("small", "large")]
    for model in _MODELS:
        assert parse(model.recipe).build().steps[-1][0] == "bayes_net"


def test_findings_tell_errors_and_chains_that_have_not_met() -> None:
    short = "bayes_net(3, draws=60, warmup=60, chains=2, leapfrog=10, random_state=0)"
    found = measure(f"standardize | t(4) | {short}", Task(with_valid_rows()))
    assert found["ber"] < 0.3
    assert found["features"] == 4
    findings = {(model.data, model.kind): {**found, "warned": ["not met"]} for model in _MODELS}
    small, large, models = STUDY.tables(findings)
    assert small.notes == dict.fromkeys(range(5), "not met")
    assert [line[0] for line in large.lines[:6]] == [*SETS, "mean"]
    assert [line[1] for line in large.lines[-4:]] == ["66.29", "49.14", "71.43", "88.00"]
    assert [line[2] for line in large.lines[-4:]] == ["7.27", "7.83", "6.48", "6.84"]
    assert described(STUDY, findings)["ber"]["BayesNN-large, printed"]["length"] == [7.27]
    assert len(models.recipes) == 10
    assert STUDY.tables({}) == []


def test_the_command_prints_which_chains_have_not_met(capsys) -> None:
    table = Table("small", ("", "BER"), [["arcene", "1"], ["dexter", "2"]], notes={1: "not met"})
    _print(SimpleNamespace(title="", tables=[table], remarks=(), figures=()))
    assert "  2: not met" in capsys.readouterr().out
