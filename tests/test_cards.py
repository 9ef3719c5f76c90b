"""What is known of a part stands on its card: no other file names it, and a new part needs no other edit."""

import ast
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from tamis.base.part import Limits, Role, Trait
from tamis.compose.catalog import catalog
from tamis.compose.parser import parse
from tamis.mining.data_traits import DataTraits
from tamis.mining.space import space
from tamis.reporting.sentence import sentence

#: Packages that hold parts.
ROOMS = ("scores", "transform", "discretize", "select", "classify", "regress")

#: Parts whose name is also a word of the code: a key of the facts, NumPy's kind of floats, a metric, plotly's margin.
ORDINARY = {"count", "f", "spearman", "t", "words"}

DOCS = Path(__file__).parents[1] / "docs"


def files() -> list[Path]:
    """The code of the search and of the report."""
    return sorted(path for one in (space, sentence) for path in Path(inspect.getfile(one)).parent.rglob("*.py"))


def texts(tree: ast.AST) -> Iterator[str]:
    """All text of some code but its docstrings."""
    nodes = list(ast.walk(tree))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {id(node.body[0].value) for node in nodes if isinstance(node, documented) and ast.get_docstring(node)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def imported(tree: ast.AST) -> Iterator[str]:
    """All modules that some code imports, or imports from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def parts_named(code: str) -> set[str]:
    """The parts that some code names, and the modules of parts that it imports."""
    tree = ast.parse(code)
    words = "|".join(sorted(set(catalog()) - ORDINARY))
    # The name alone, with what a family of models is known by, called, or in a chain.
    named = re.compile(rf"(?:^|\|\s*)({words})(?: \w+)?$|\b({words})(?:\(|\s*\|)")
    found = {match[0] for text in texts(tree) for match in named.finditer(text)}
    return found | {name for name in imported(tree) if re.match(rf"tamis\.({'|'.join(ROOMS)})\b", name)}


@pytest.mark.parametrize("path", files(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_search_and_the_report_name_no_part(path: Path) -> None:
    assert not parts_named(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "code",
    [
        'SCALE = "rms_norm"',
        'TABLE = {"cc": 1}',
        'LINEAR = ("svm linear", 2)',
        'TEMPLATE = "vote(ssv({k}), at_least={1, 2})"',
        'text = f"committee({n}, {model})"',
        'CHAIN = "cc | other"',
        "from tamis.transform import PCA",
        "from tamis.classify.knn import KNN",
        "import tamis.select",
        "from tamis import scores",
    ],
)
def test_a_named_part_is_seen(code: str) -> None:
    assert parts_named(code)


@pytest.mark.parametrize(
    "code",
    [
        '"""Of cc(5) and svm."""',
        'def f():\n    """svm"""',
        'y.dtype.kind == "f"',
        'title = "the trees of the forest"',
        "from tamis.trees.rules import rules",
        'role = "imputation"',
    ],
)
def test_other_words_are_let_through(code: str) -> None:
    assert not parts_named(code)


def test_cards_speak_of_what_there_is() -> None:
    traits = {name for name, _ in inspect.getmembers(DataTraits)} | set(DataTraits.__dataclass_fields__)
    assert set(get_args(Trait)) <= traits
    for part in catalog().values():
        card = part.card
        assert not card.ranks_like or card.ranks_like in catalog()
        assert set(card.dense_only) <= set(card.search)
        assert set(card.numbers_only) | set(card.only) <= set(part.parameters)
        for template in card.templates:
            assert parse(template.replace("{k}", "geom(1, 10)")).parts[0].name == card.name  # type: ignore[union-attr]
        if isinstance(card.phrase, str) and part.score is None:
            assert {name for _, name, _, _ in Formatter().parse(card.phrase) if name} <= set(part.parameters)


def test_every_role_has_one_part() -> None:
    roles = [part.card.role for part in catalog().values() if part.card.role is not None]
    assert sorted(roles) == sorted(get_args(Role))


def test_limits_are_of_rows_columns_their_products_and_classes() -> None:
    assert Limits().allow(10**9, 10**9, 1)
    for limits in (Limits(rows=10), Limits(columns=5), Limits(values=50), Limits(differences=500)):
        assert limits.allow(10, 5, 5)
    assert not Limits(rows=10).allow(11, 5, 5)
    assert not Limits(columns=5).allow(10, 6, 5)
    assert not Limits(values=50).allow(10, 6, 5)
    assert not Limits(differences=500).allow(11, 5, 5)
    assert Limits(class_rows=3).allow(10, 5, 3)
    assert not Limits(class_rows=3).allow(10, 5, 2)


NEW = {
    "scores/gap.py": '''
"""The gap."""

import numpy as np

from tamis.base.part import Part
from tamis.base.score import score


@score(Part("gap", paper="Nobody 2026", phrase="the gap between the class means"))
def gap(X, y, sample_weight=None):
    """Largest difference of two class means."""
    return np.ptp([X[y == c].mean(axis=0) for c in np.unique(y)], axis=0)
''',
    "select/leading.py": '''
"""The leading columns."""

import numpy as np

from tamis.base.part import Part
from tamis.base.selector import Selection, Selector
from tamis.base.search_range import geom


class Leading(Selector):
    """Keep the first columns."""

    part = Part("leading", ("k",), {"k": geom(1, 100)}, paper="Nobody 2026", phrase="keeps the first {k} features")
    _parameter_constraints = {"k": [int]}

    def __init__(self, k=1):
        self.k = k

    def _select(self, X, y):
        return Selection(np.arange(X.shape[1]) < self.k, -np.arange(X.shape[1], dtype=float))
''',
    "classify/majority.py": '''
"""The majority."""

import numpy as np

from tamis.base.classifier import Classifier
from tamis.base.part import Part


class Majority(Classifier):
    """Predict the most frequent class."""

    part = Part("majority", paper="Nobody 2026", phrase="the most frequent class", scale_invariant=True)
    gives_probabilities = True
    _parameter_constraints = {}

    def _fit(self, X, y):
        self.shares_ = np.bincount(y) / y.size

    def _decision(self, X):
        return np.tile(self.shares_, (X.shape[0], 1))
''',
}

LOOK = """
import importlib.util
import json
import runpy
import sys
from pathlib import Path

import tamis

folder, docs = map(Path, sys.argv[1:])
for room in ("scores", "select", "classify"):
    spec = importlib.util.find_spec(f"tamis.{room}")
    spec.submodule_search_locations.append(str(folder / room))
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    setattr(tamis, room, module)
    spec.loader.exec_module(module)

import numpy as np
from typer.testing import CliRunner

from tamis.cli.main import app
from tamis.compose.recipe import recipe, to_text
from tamis.mining.data_traits import data_traits
from tamis.mining.space import space
from tamis.reporting.sentence import sentence
from tamis.data.dataset import Dataset

X, y = np.array([[0.0, 5, 1, 1], [1, 5, 2, 1], [8, 5, 1, 2], [9, 5, 2, 1], [7, 5, 1, 2]]), [0, 0, 1, 1, 1]
text = "gap(3) | leading(1) | majority"
model = recipe(text).fit(X, y)
found = space(data_traits(Dataset.of(X, y)))
print(json.dumps({
    "recipe": to_text(model),
    "predicted": model.predict(X).tolist(),
    "list": [CliRunner().invoke(app, ["list", name, "--json"]).stdout for name in ("gap", "leading", "majority")],
    "space": [[str(call) for calls in part for call in calls] for part in (found.selections, found.classifiers)],
    "scaled": [[str(call) for call in scaling] for scaling, last in found.bases if last[-1].name == "majority"],
    "sentence": sentence(text),
    "docs": runpy.run_path(str(docs / "make_tables.py"))["parts"](),
}))
"""


def test_a_part_is_one_file(tmp_path: Path) -> None:
    for name, code in NEW.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(tmp_path), str(DOCS)], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["recipe"] == "gap(3) | leading(1) | majority"
    assert found["predicted"] == [1] * 5
    assert [json.loads(text)[0]["kind"] for text in found["list"]] == ["score", "selector", "classifier"]
    selections, classifiers = found["space"]
    assert {"gap(geom(2, 3, 10))", "leading(geom(2, 3, 10))"} <= set(selections)
    assert "majority" in classifiers
    assert [] in found["scaled"]
    assert ["standardize"] not in found["scaled"]
    assert found["sentence"] == (
        "ranks the features by the gap between the class means and keeps the best 3, then keeps the first 1 features, "
        "then the most frequent class"
    )
    assert "| `gap` | `Ranking` | Largest difference of two class means. |" in found["docs"]
    assert "| `leading` | `Leading` | Keep the first columns. | k (1) | Nobody 2026 |" in found["docs"]
    assert "| `majority` | `Majority` | Predict the most frequent class. |" in found["docs"]
