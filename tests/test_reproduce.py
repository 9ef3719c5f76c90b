"""Published tables run again: the tables, the rows that are kept and found again, the command, the figures."""

import json
import re
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest

from study_figures import described
from tamis import reproduce as tamis_reproduce
from tamis.base.errors import DataError, TamisError
from tamis.compose.recipe import parse
from tamis.data.dataset import Dataset
from tamis.data.load import load
from tamis.data.named import ENTRIES
from tamis.reproduce import fs_svm, ghostminer
from tamis.reproduce.framework import challenge_table, pieces, table
from tamis.reproduce.framework.results import Results
from tamis.reproduce.framework.study import Task
from tamis.reproduce.framework.table import Published, Row, table_study
from tamis.reproduce.fs_svm import figures
from tamis.reproduce.fs_svm.entries import TABLE_2, TABLE_3
from tamis.validation.whole import validate

FINAL = {row.data: row.published for row in reversed(ghostminer.ROWS) if row.published.f_feat is not None}
FIRST = [row.published for row in fs_svm.ROWS if row.split == "official" and not row.note.startswith("width")]
SECOND = [row.published for row in fs_svm.ROWS if row.split == "pooled" and not row.note.startswith("width")]

ROWS = (
    Row("tiny", "cc(2) | knn(1)", Published(12.5, 3.0, 11.25, winner_ber=9.0), note="a note"),
    Row("tiny", "standardize | cc(3) | svm(linear)", Published(20.0, about=True)),
    Row("tiny", "cc(2) | knn(1)", Published(test_ber=30.0, f_probe=5.0), "official"),
    Row("absent", "cc(2) | knn(1)", Published(1.0)),
)
TINY = ROWS[:3]
SMALL = table_study("A small table", "Nobody 2006", "small models", ROWS, remarks=("a remark",), folds=4)


def rows_of(seed, n=40, columns=6):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, columns))
    X[:, 0] += 2 * y
    return X.round(3), y


def write_csv(path, X, y):
    names = [f"f{j}" for j in range(X.shape[1])]
    pl.DataFrame(X, schema=names).with_columns(pl.Series("class", y)).write_csv(path)


@pytest.fixture
def tiny(home):
    """A small data set with an official split, called tiny."""
    for seed, part in enumerate(("train", "valid")):
        write_csv(home / f"tiny.{part}.csv", *rows_of(seed))
    return home


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path / "results.json")


@pytest.fixture
def forbidden(monkeypatch):
    """From when it is called on, nothing may be validated."""

    def forbid():
        def refuse(*_, **__):
            raise AssertionError("validated again")

        monkeypatch.setattr(table, "validate", refuse)

    return forbid


def run(rows, results, *, folds=4, repeats=2, seed=0, **options):
    members = [row.piece(folds) for row in rows]
    return list(pieces.run_pieces(members, Task(seed=seed, repeats=repeats), results, **options))


def lasting(found):
    """What a run found, without what differs from run to run."""
    return {k: v for k, v in found.items() if k not in ("seconds", "fit_seconds", "date")}


# The tables


@pytest.mark.parametrize("study", [ghostminer, fs_svm], ids=["ghostminer", "fs-svm"])
def test_every_recipe_can_be_built_and_every_data_set_has_a_name(study):
    for row in study.ROWS:
        model = parse(row.recipe).build()
        assert hasattr(model, "predict"), row.recipe
        assert row.data in ENTRIES
    keys = [(row.data, row.recipe, row.split) for row in study.ROWS]
    assert len(set(keys)) == len(keys)


def test_published_figures_average_to_the_published_means():
    def mean(entries, name):
        return np.mean([getattr(entry, name) for entry in entries])

    assert mean(FINAL.values(), "test_ber") == pytest.approx(7.78, abs=0.005)
    assert mean(FINAL.values(), "f_feat") == pytest.approx(26.8)
    assert mean(FINAL.values(), "winner_ber") == pytest.approx(6.45, abs=0.005)
    for name, published in {"test_ber": 8.99, "test_auc": 91.01, "f_feat": 20.9, "f_probe": 17.3}.items():
        assert mean(SECOND, name) == pytest.approx(published, abs=0.051 if name.startswith("f_") else 0.0051), name
    assert mean(SECOND, "winner_ber") == mean(FINAL.values(), "winner_ber")
    assert [entry.test_ber for entry in FIRST] == [18.20, 4.20, 19.68, 1.69, 14.06]
    assert [entry.winner_ber for entry in FIRST] == [13.30, 3.90, 8.54, 1.37, 7.17]


def test_widths_are_those_of_the_spider_toolbox():
    printed = {"dorothea": 0.115, "gisette_surrogate": 0.382, "madelon": 0.011}
    for row in fs_svm.ROWS:
        if match := re.search(r"sigma=([\d.]+)", row.recipe):
            assert float(match[1]) == pytest.approx(2 * printed[row.data] ** 2)


def test_the_printed_widths_are_distances_after_the_selection(shared_data, monkeypatch):
    """What settled how the widths of Table 1 are to be read."""
    from sklearn.metrics import pairwise_distances

    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    madelon = load("madelon")
    for steps, width in (("rms_norm", 0.070), ("rms_norm | fisher(20)", 0.011)):
        X = parse(steps).build().fit_transform(madelon.X, madelon.y)
        one, other = X[madelon.y == 1], X[madelon.y == -1]
        distances = pairwise_distances(one, other)
        nearest = np.concatenate([distances.min(axis=0), distances.min(axis=1)])
        assert nearest.mean() == pytest.approx(width, abs=0.0005)


# Rows that run, and rows that need not


def test_a_row_is_what_validation_says(tiny, results):
    pooled, _, official = run(TINY, results, seed=3)
    direct = validate("cc(2) | knn(1)", load("tiny"), split="pooled", folds=4, repeats=2, seed=3)
    for name in ("ber", "auc"):
        for part in ("mean", "sd", "se"):
            assert pooled.found["metrics"][name][part] == getattr(direct.estimates[name], part)
    error, accuracy = pooled.found["metrics"]["error"], direct.estimates["accuracy"]
    assert (error["mean"], error["sd"], error["se"]) == (1 - accuracy.mean, accuracy.sd, accuracy.se)
    assert np.mean(error["values"]) == pytest.approx(error["mean"])
    assert pooled.found["kept"] == [2] * 8
    assert (pooled.found["n_features"], pooled.found["real"], pooled.found["probe_share"]) == (6, None, None)
    direct = validate("cc(2) | knn(1)", load("tiny"), split="official", seed=3)
    assert official.found["metrics"]["ber"]["mean"] == direct.estimates["ber"].mean
    assert official.found["metrics"]["ber"]["sd"] is None
    assert official.found["repeats"] == 1


def test_the_second_call_answers_from_the_file(tiny, results, forbidden):
    first = run(TINY, results)
    assert [outcome.new for outcome in first] == [True, True, True]
    forbidden()
    second = run(TINY, Results(results.path))
    assert [outcome.new for outcome in second] == [False, False, False]
    assert [outcome.found for outcome in second] == [outcome.found for outcome in first]


def test_a_stopped_run_goes_on_where_it_was(tiny, results):
    whole = run(TINY, Results(results.path.with_name("whole.json")))
    seen = []

    @contextmanager
    def stop_at_second(title):
        def report(done, total):
            seen.append((done, total))
            if done == 5.5:
                raise KeyboardInterrupt

        yield report

    with pytest.raises(KeyboardInterrupt):
        run(TINY, results, progress=stop_at_second)
    assert seen == [(done / 2, 9) for done in (*range(9), *range(8, 12))]
    assert len(json.loads(results.path.read_text())["pieces"]) == 1
    rest = run(TINY, results)
    assert [outcome.new for outcome in rest] == [False, True, True]
    assert [lasting(outcome.found) for outcome in rest] == [lasting(outcome.found) for outcome in whole]
    assert [path.name for path in results.path.parent.glob(".*")] == []


@pytest.mark.parametrize("options", [{"repeats": 1}, {"folds": 3}, {"seed": 1}, {"again": True}])
def test_other_options_run_anew(tiny, results, options):
    run(TINY[:1], results)
    assert run(TINY[:1], results, **options)[0].new
    # What was asked for first is still there, unless it was replaced by the same.
    assert not run(TINY[:1], results)[0].new


def test_other_data_other_recipes_and_other_versions_run_anew(tiny, results, monkeypatch):
    run(TINY[:1], results)
    assert run([replace(TINY[0], recipe="cc(1) | knn(1)")], results)[0].new
    monkeypatch.setattr(pieces, "__version__", "99")
    assert run(TINY[:1], results)[0].new
    monkeypatch.undo()
    monkeypatch.setenv("TAMIS_DATA", str(tiny))
    assert run(TINY[:1], results)[0].new
    write_csv(tiny / "tiny.valid.csv", *rows_of(7))
    assert run(TINY[:1], results)[0].new
    assert not run(TINY[:1], results)[0].new
    # One entry for each of the two recipes: what is out of date was replaced.
    assert len(json.loads(results.path.read_text())["pieces"]) == 2


def test_two_runs_may_share_a_file(tiny, results):
    other = Results(results.path)
    run(TINY[:1], results)
    run(TINY[1:2], other)
    assert [outcome.new for outcome in run(TINY[:2], results)] == [False, False]


def test_what_is_not_at_hand_is_told_and_the_rest_runs(tiny, results):
    outcomes = run(ROWS, results)
    assert [outcome.found is None for outcome in outcomes] == [False, False, False, True]


def test_real_features_and_probes_of_madelon_are_counted(home, results):
    X, y = rows_of(0, columns=500)
    X[:, 0] = X[:, 499]
    X[:, 28] += 3 * y
    X[:, 493] += 3 * y
    X[:, 100] += 3 * y
    write_csv(home / "madelon.csv", X, y)
    assert len(pieces.REAL_FEATURES["madelon"]) == 20
    (outcome,) = run([Row("madelon", "cc(3) | knn(1)", Published())], results, repeats=1)
    assert outcome.found["kept"] == [3] * 4
    assert outcome.found["real"] == [2] * 4
    assert outcome.found["probe_share"] == pytest.approx(1 / 3)
    write_csv(home / "madelon.csv", *rows_of(0))
    with pytest.raises(DataError, match="madelon: has 6 columns; column 494 is known to be real"):
        run([Row("madelon", "cc(3) | knn(1)", Published())], results)


def test_what_a_row_warns_of_is_kept_with_it(tiny, results):
    row = Row("tiny", "cc(threshold=2) | knn(1)", Published())
    (outcome,) = run([row], results)
    assert outcome.found["warnings"] == ["0 of 6 features meet the cut; the best 1 selected instead"]


def test_an_error_names_the_row(tiny, results):
    with pytest.raises(TamisError, match=r"^tiny: cc\(2\), 4 folds: the model does not predict"):
        run([Row("tiny", "cc(2)", Published())], results)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"layout": 1, "rows": []}', '{"layout": 2, "pieces": 3}', '"x"'])
def test_a_file_that_is_no_results_file_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(DataError, match=r"other\.json: is not a results file"):
        Results(path)
    assert path.read_text() == content


def test_a_file_that_cannot_be_written_is_told(tiny, tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        run(TINY[:1], Results(tmp_path / "no" / "folder.json"))
    with pytest.raises(DataError, match="cannot be read"):
        Results(tmp_path)


# The command


@pytest.fixture
def tamis(tamis, monkeypatch, tmp_path):
    """The same for the command under test, in an empty folder and with the small table."""
    monkeypatch.setattr(ghostminer, "STUDY", SMALL)
    monkeypatch.chdir(tmp_path)
    return partial(tamis, "reproduce")


def test_the_command_from_end_to_end(tiny, tamis, tmp_path, forbidden):
    code, out, error = tamis("ghostminer", "--repeats", 1, "--jobs", 1)
    assert code == 0
    assert [line.split(":")[0] for line in error.splitlines()] == ["1/4 tiny", "2/4 tiny", "3/4 tiny"]
    assert "12.5 ± 3" in out
    assert "about 20" in out
    assert "Not available: absent (the UCI repository)." in out
    assert "2: standardize | cc(3) | svm(linear)" in out
    assert "4 folds over both.\na remark\nFolds are drawn once.\n" in out
    assert "labels of the test rows are not public" in out
    assert "a note" in out
    assert (tmp_path / "tamis-reproduce-ghostminer.json").exists()
    forbidden()
    assert tamis("ghostminer", "--repeats", 1, "--jobs", 1) == (0, out, "")
    code, out, _ = tamis("ghostminer", "--repeats", 1, "--json")
    facts = json.loads(out)
    assert [piece["found"] is None for piece in facts["pieces"]] == [False, False, False, True]
    assert facts["tables"][0]["lines"][0][:4] == ["1", "tiny", "train + valid", "12.5 ± 3"]
    assert facts["pieces"][0]["published"]["cv_error"] == 12.5
    assert facts["tables"][0]["recipes"][0] == "cc(2) | knn(1)"
    ber = facts["pieces"][0]["found"]["metrics"]["ber"]
    code, out, _ = tamis("ghostminer", "--repeats", 1, "--markdown")
    lines = [line for line in out.splitlines() if line.startswith("|")]
    columns = [cell.strip() for cell in lines[0].strip("|").split("|")]
    assert columns[1:4] == ["data", "rows", "recipe"]
    assert "published probes" in columns
    assert "real" not in columns
    assert all(len(re.split(r"(?<!\\)\|", line)) == len(columns) + 2 for line in lines)
    assert r"`cc(2) \| knn(1)`" in lines[2]
    assert f"{100 * ber['mean']:.2f} ({100 * ber['se']:.2f})" in lines[2]
    assert "- 1: a note" in out


def test_one_call_from_python_does_what_the_command_does(tiny, tamis):
    seen = []
    found = tamis_reproduce.run("ghostminer", data="tiny", repeats=1, finished=seen.append)
    assert [line.split(" in ")[0] for line in seen][2].startswith("3/3 tiny: cc(2) | knn(1), train -> valid: BER ")
    _, out, _ = tamis("ghostminer", "--data", "tiny", "--repeats", 1, "--jobs", 1, "--json")
    same = json.loads(out)["tables"][0]
    # The last column has the seconds.
    assert [line[:-1] for line in found.tables[0].lines] == [line[:-1] for line in same["lines"]]
    with pytest.raises(TamisError, match="repeats"):
        tamis_reproduce.run("ghostminer", data="tiny", repeats=0)


def test_rows_can_be_chosen_by_their_data(tiny, tamis, tmp_path):
    path = tmp_path / "mine.json"
    code, out, _ = tamis("ghostminer", "--data", "tiny", "--repeats", 1, "--jobs", 1, "--results", path, "--json")
    assert (code, len(json.loads(out)["pieces"])) == (0, 3)
    assert path.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ghostminer", "--data", "iris"], "ghostminer has nothing on 'iris'; it has: tiny, absent"),
        (
            ["ghostminer", "--data", "absent"],
            "not available: absent (the UCI repository). Put the files into the folder that TAMIS_DATA",
        ),
        (["ghostminer", "--json", "--markdown"], "--markdown and --json exclude each other"),
        (["ghostminer", "--figures", "here"], "ghostminer has no figures"),
        (["fs-svm", "--figures", "here"], "not available: arcene"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(tiny, tamis, arguments, message):
    code, out, error = tamis(*arguments)
    assert (code, out) == (2, "")
    assert error.startswith("tamis: ")
    assert error.count("\n") == 1
    assert message in error


def test_no_data_at_all(no_home, tamis):
    code, out, error = tamis("ghostminer")
    assert (code, out) == (2, "")
    assert error == (
        "tamis: not available: tiny, absent (the UCI repository). Put the files into the folder that TAMIS_DATA names\n"
    )


def test_stopping_keeps_what_is_finished(tiny, tamis, monkeypatch):
    calls = iter([validate])

    def once(*arguments, **options):
        for one in calls:
            return one(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(table, "validate", once)
    code, out, error = tamis("ghostminer", "--repeats", 1, "--jobs", 1)
    assert (code, out) == (130, "")
    assert "stopped; what is finished is in tamis-reproduce-ghostminer.json" in error
    monkeypatch.setattr(table, "validate", validate)
    code, out, error = tamis("ghostminer", "--repeats", 1, "--jobs", 1)
    assert code == 0
    assert "1/4" not in error
    assert "2/4" in error


# The figures and the tables of entries


@pytest.fixture(scope="module")
def drawn():
    X, y = rows_of(1, n=60, columns=12)
    X[:, 3] += 20 * y
    split = np.where(np.arange(60) < 48, "train", "valid")
    data = Dataset(X, y, np.arange(12).astype(str), name="arcene", split=split)
    seen = []
    task = Task(data, repeats=1, progress=lambda done, total: seen.append(done / total))
    names = [piece.name for piece in figures.PIECES]
    runs = (figures.by_cost(task, (0.1, 10.0)), figures.by_feature(task), figures.by_size(task, (2, 5, 4700)))
    assert seen[-1] == 1
    return data, {("arcene", name): found for name, found in zip(names, runs, strict=True)}


def test_the_numbers_of_the_figures(drawn):
    data, found = drawn
    train = data.rows(data.split == "train")
    by_cost, scored, by_size = found.values()
    cost = validate("rms_norm | svm(linear, C=10)", train, folds=20)
    assert by_cost["points"][1]["at"] == 10.0
    assert by_cost["points"][1]["error"] == 1 - cost.estimates["accuracy"].mean
    assert by_cost["points"][1]["error_se"] == cost.estimates["accuracy"].se
    size = validate("rms_norm | fisher(5) | svm(linear, C=inf)", train, folds=10)
    assert [point["at"] for point in by_size["points"]] == [2, 5]
    assert by_size["points"][1]["ber"] == size.estimates["ber"].mean
    a, b = train.X[train.y == 0], train.X[train.y == 1]
    by_hand = (a.mean(axis=0) - b.mean(axis=0)) ** 2 / (a.var(axis=0) + b.var(axis=0))
    np.testing.assert_allclose(scored["scores"], by_hand)
    assert sum(scored["counts"]) == 12
    json.dumps(list(found.values()), allow_nan=False)


def test_figures_of_fs_svm(drawn):
    findings = drawn[1]
    shown = described(fs_svm.STUDY, findings)
    assert list(shown) == ["figure_1", "figure_2a", "figure_2b", "figure_4"]
    assert list(shown["figure_4"]) == ["error, %"]
    by_size = findings["arcene", "Figure 4: error by features"]
    marked = {**by_size, "points": [{**by_size["points"][0], "warnings": ["they overlap"]}, by_size["points"][1]]}
    shown = described(fs_svm.STUDY, {**findings, ("arcene", "Figure 4: error by features"): marked})
    ring = shown["figure_4"]["the classes overlap in some folds"]
    assert ring["x"] == [2]


def test_entries_stand_beside_the_winner(tiny, results):
    pooled, *_, official = run(TINY, results)
    own = {(row.data, row.piece(10).name): official.found for row in fs_svm.ROWS if row.split == "official"}
    _, second = fs_svm.STUDY.tables(own)
    assert [line[0] for line in second.lines] == ["OVERALL", *challenge_table.SETS]
    assert all(len(line) == len(second.columns) for line in second.lines)
    ber = official.found["metrics"]["ber"]
    assert second.lines[1][:4] == ["arcene", "12.73", "18.20", f"{100 * ber['mean']:.2f} ({100 * ber['se']:.2f})"]
    assert second.lines[0][3] == f"{100 * ber['mean']:.2f}"
    assert second.lines[1][7] == "33.33"
    assert second.lines[0][-5:] == ["88.00", "6.84", "97.22", "80.30", "47.80"]
    final = {(row.data, row.piece(10).name): official.found for row in ghostminer.FINAL[:2]}
    _, first = ghostminer.STUDY.tables(final)
    assert [line[:3] for line in first.lines] == [
        *(["OVERALL", "37.14", "7.98"], ["arcene", "14.29", "13.53"], ["dexter", "71.43", "3.50"]),
    ]
    assert first.lines[0][3] is None
    shown = described(ghostminer.STUDY, final)["table_1"]
    assert shown["here, valid rows"]["length"] == [100 * ber["mean"]] * 2
    assert pooled.found["kept"] == [2] * 8


def test_printed_entries_are_multiples_of_their_tournaments():
    """Scores are 100 x points / (entries - 1), with 55 rivals in the first stage and 35 in the second."""
    for table_of, rivals in ((TABLE_2, 55), (challenge_table.WINNER_1, 55), (TABLE_3, 35), (ghostminer._TABLE_1, 35)):
        for name, entry in table_of.items():
            if name != challenge_table.OVERALL:
                assert entry.score * rivals / 100 == pytest.approx(round(entry.score * rivals / 100), abs=0.01)
    assert np.mean([entry.score for entry in TABLE_2.values()]) == pytest.approx(12.73, abs=0.005)
    each = [entry for name, entry in TABLE_3.items() if name != challenge_table.OVERALL]
    for key in ("score", "ber", "auc"):
        mean = np.mean([getattr(entry, key) for entry in each])
        assert getattr(TABLE_3[challenge_table.OVERALL], key) == pytest.approx(mean, abs=0.012), key


def test_the_first_components_of_dorothea():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = (rng.random((60, 2100)) < 0.3 + 0.3 * y[:, None] * (np.arange(2100) < 20)).astype(float)
    data = Dataset(X, np.where(y, 1, -1), np.arange(2100).astype(str), name="dorothea")
    piece = ghostminer._FIGURE_1
    found = {(piece.data, piece.name): piece.run(Task(data))}
    shown = described(ghostminer.STUDY, found)["figure_1"]
    assert {label: len(mark["x"]) for label, mark in shown.items()} == {"class -1": 30, "class 1": 30}
