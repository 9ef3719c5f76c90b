"""The table of convex networks: its pieces run on small data, and the tables made of what they find."""

import json
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from study_figures import described
from tamis.compose.recipe import parse, to_text
from tamis.data.dataset import Dataset
from tamis.reproduce import convex_networks
from tamis.reproduce.convex_networks import STUDY
from tamis.reproduce.framework.study import Task


@pytest.fixture(scope="module")
def small() -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    X[::7, 2] = np.nan
    return Dataset(X, y, np.array(["a", "b", "c"]), "small")


@pytest.fixture(scope="module")
def findings(small) -> dict:
    """What each piece finds; one data set stands for all."""
    seen = []
    pieces = [piece for piece in STUDY.pieces if piece.data in ("", "bupa")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convex_networks, "_FOLDS", 3)
        one = {p.name: p.run(Task(small, progress=lambda done, total: seen.append((done, total)))) for p in pieces}
    assert sum(done == total for done, total in seen) >= len(pieces) - 1
    assert json.loads(json.dumps(one, allow_nan=False)) == one
    return {(piece.data, piece.name): one[piece.name] for piece in STUDY.pieces}


def test_every_cell_of_the_table_is_run() -> None:
    assert len(STUDY.data) == 8
    assert len(STUDY.pieces) == 8 * 6 + 1
    assert [p.data for p in STUDY.pieces[1:]] == [d for d in STUDY.data for _ in range(6)]


def test_findings_are_accuracies(findings) -> None:
    for name in ("SFS", "PTA", "SFFS"):
        assert len(findings["bupa", name]["mean"]) == 3
    assert findings["bupa", "100 %"]["mean"][0] > 0.6
    assert all(0 < se < 0.2 for (data, _), found in findings.items() if data for se in found["se"])


def test_the_losses_and_the_table_are_drawn(findings) -> None:
    drawn = described(STUDY, findings)
    assert list(drawn) == ["figure_1", *(f"table_{name}" for name in ("SFS", "PTA", "SFFS", "100", "ANN", "SVM"))]
    for name, loss in (
        ("logistic", lambda m: np.log1p(np.exp(-m))),
        ("squared hinge", lambda m: np.maximum(0, 1 - m) ** 2),
        ("exponential", lambda m: np.exp(-m)),
    ):
        own = drawn["figure_1"][name]
        np.testing.assert_allclose(own["y"], loss(np.array(own["x"])), atol=1e-6)
    assert drawn["table_ANN"]["printed"]["length"][0] == 86.35
    assert drawn["table_PTA"]["here"]["length"][1] == 100 * findings["bupa", "PTA"]["mean"][0]


def test_the_tables_have_print_and_finding_side_by_side(findings) -> None:
    table, far = STUDY.tables(findings)
    assert all(len(line) == len(table.columns) == 7 for line in table.lines)
    assert len(table.lines) == 8 * 3 * 2
    assert table.lines[0] == [
        *("balance.scale, SFS, printed", "94.66", "94.77", "94.91", "95.41", "86.35", "90.63"),
    ]
    assert table.lines[2][1:] == ["94.75", "95.19", "94.92", None, None, None]
    found = findings["wpbc", "PTA"]
    assert table.lines[-3][1].startswith(f"{100 * found['mean'][0]:.2f} ({100 * found['se'][0]:.2f})")
    marked = sum(str(cell).endswith("*") for line in table.lines for cell in line)
    assert f"{len(far.lines)} of 96 cells" in far.title
    assert marked == len(far.lines) > 0
    for line in far.lines:
        assert abs(float(line[3]) - float(line[4])) > 2 * float(line[5]) - 0.02


def test_what_is_not_at_hand_leaves_no_line(findings) -> None:
    some = {key: found for key, found in findings.items() if key in {("glass", "PTA"), ("wdbc", "100 %")}}
    table, _ = STUDY.tables(some)
    assert [line[0] for line in table.lines] == [
        *("glass, PTA, printed", "glass, PTA, found", "wdbc, SFS, printed", "wdbc, SFS, found"),
    ]
    assert [one.lines for one in STUDY.tables({})] == [[], []]


def test_every_column_is_a_recipe(small) -> None:
    for text in convex_networks._WHOLE.values():
        assert to_text(parse(text).build()) == text
    X, y = np.nan_to_num(small.X), small.y
    network = parse(convex_networks._WHOLE["ANN"]).build().set_params(trainings=2, max_iter=50, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert network.fit(X, y).model_.hidden_layer_sizes == (6,)
    machine = parse(convex_networks._WHOLE["SVM"]).build().fit(X, np.arange(50) % 3)
    assert machine.intercept_.tolist() == [0.0, 0.0, 0.0]
