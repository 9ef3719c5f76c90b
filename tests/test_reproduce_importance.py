"""The study of two challenge entries: recipes that build, pieces run on small data, tables of what they find."""

import pytest

from planted import with_valid_rows
from study_figures import described
from tamis.compose.recipe import parse
from tamis.reproduce.framework.challenge_models import measure
from tamis.reproduce.framework.study import Task
from tamis.reproduce.importance import _MODELS, STUDY

SETS = ("arcene", "dexter", "dorothea", "gisette_surrogate", "madelon")


@pytest.fixture(scope="module")
def found() -> dict:
    """What a small model of each kind finds."""
    data = with_valid_rows()
    network = "mlp(3, class_weight=balanced)"
    recipes = {
        "importance": f"standardize | f(10) | importance({network}, k=2, values=5, rows=20, step=0.5) | {network}",
        "ensemble": "standardize | from_model(forest(20), k=4) | rlsc(n_estimators=5, max_samples=0.5)",
        "single": "standardize | rlsc(sigma=auto)",
    }
    return {kind: measure(recipe, Task(data)) for kind, recipe in recipes.items()}


def test_pieces_are_recipes_on_the_five_sets_at_the_printed_share() -> None:
    assert STUDY.data == SETS
    assert [p.data for p in STUDY.pieces] == sorted(p.data for p in STUDY.pieces)
    for model in _MODELS:
        parse(model.recipe).build()
    sizes = [parse(m.recipe).build().steps[-2][1].k for m in _MODELS if m.kind == "importance"]
    assert sizes == [112, 224, 1120, 56, 6]


def test_findings_tell_errors_features_and_probes(found) -> None:
    assert all(one["ber"] < 0.3 and one["auc"] > 0.8 for one in found.values())
    assert (found["importance"]["features"], found["importance"]["share"]) == (2, 0.1)
    assert found["importance"]["probes"] < 0.6
    assert found["ensemble"]["features"] == 4
    assert found["single"]["features"] == 20
    assert "features" in STUDY.brief(found["single"])


def test_tables_have_a_line_for_each_set_the_mean_and_the_printed_lines(found) -> None:
    tables = STUDY.tables({(p.data, p.name): found[p.name] for p in STUDY.pieces})
    assert [table.title.split(":")[0] for table in tables] == ["importance", "ensemble", "single", "The models"]
    for table in tables:
        assert all(len(line) == len(table.columns) for line in table.lines)
    assert [line[0] for line in tables[0].lines[:6]] == [*SETS, "mean"]
    # The same findings stand for all sets here, so that their mean is each.
    assert tables[0].lines[5][2] == tables[0].lines[0][2].split()[0]
    assert tables[0].lines[-2][1:6] == ["-62.18", "16.37", "83.63", "1.12", "21.47"]
    assert [line[2] for line in tables[1].lines[-2:]] == ["8.04", "8.23"]
    assert [line[0] for line in tables[2].lines] == [s for s in SETS if s != "gisette_surrogate"] + ["mean"]


def test_errors_are_drawn_beside_the_printed_means(found) -> None:
    drawn = described(STUDY, {(p.data, p.name): found[p.name] for p in STUDY.pieces})["ber"]
    assert drawn["1 December, printed"]["length"] == [16.37]
    assert drawn["RF+RLSC, printed"]["length"] == [8.04]
    assert len(drawn["importance"]["length"]) == 6


def test_a_set_that_is_not_at_hand_leaves_no_line_and_no_mean(found) -> None:
    some = {(data, "importance"): found["importance"] for data in SETS if data != "dexter"}
    table, models = STUDY.tables(some)
    assert [line[1] for line in models.lines] == ["arcene", "dorothea", "gisette_surrogate", "madelon"]
    assert [line[0] for line in table.lines[:-2]] == ["arcene", "dorothea", "gisette_surrogate", "madelon"]
    assert all(recipe.startswith("standardize | ") for recipe in models.recipes)
    assert STUDY.tables({}) == []
