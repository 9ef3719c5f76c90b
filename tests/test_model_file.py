"""Saved models: every part comes back as it was, and a file from anywhere runs no code."""

import functools
import io
import json
import operator
import os
import pickle
import warnings
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sampled import FEW_DRAWS
from tamis.base.errors import DataError, TamisError
from tamis.base.predictions import predict_rows
from tamis.base.seeds import seeded
from tamis.classify import KNN, NRBF, ConvexNet, SSVTree
from tamis.compose.model_file import Card, card_of, load_model, save_model
from tamis.compose.recipe import recipe, to_text
from tamis.compose.sound import UnsoundError, check_sound
from tamis.compose.trial_prediction import check_prediction
from tamis.compose.trusted import RefusedError, _nodes, check_types
from tamis.data import load
from tamis.data.dataset import Dataset
from tamis.data.fingerprint import fingerprint
from tamis.regress import KNNRegressor
from tamis.select import Ranking
from test_common import FOUND, variants

PARTS = [(key, FEW_DRAWS.get(key[1], {})) for key in FOUND] + variants()


def _rows():
    rng = np.random.default_rng(0)
    y = np.array(["rose", "tulip"])[np.arange(40) % 2]
    X = np.abs(rng.normal(size=(40, 6))) * (rng.random((40, 6)) < 0.7)
    X[:, 2] += y == "rose"
    return X, y


def _numbers():
    """The rows with numbers as targets."""
    X, y = _rows()
    return X, 50.0 + 3.0 * X[:, 2] + (y == "rose")


def _frame():
    X, _ = _rows()
    words = {"colour": ["red", "green"] * 20, "shape": [f"s{i % 3}" for i in range(40)]}
    return pl.DataFrame({f"n{j}": X[:, j] for j in range(6)} | words)


def _answers(model, X):
    if hasattr(model, "predict"):
        return predict_rows(model, X)
    return model.transform(X)


def _assert_same(left, right):
    if isinstance(left, tuple):
        for one, other in zip(left, right, strict=True):
            _assert_same(one, other)
    elif sp.issparse(left):
        assert left.shape == right.shape
        assert (left != right).nnz == 0
    elif isinstance(left, pl.DataFrame):
        assert left.equals(right)
    else:
        np.testing.assert_array_equal(left, right)


def _through(model, X, y, path: Path, **known):
    save_model(path, model, card_of(model, X, y, **known))
    return load_model(path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("key", "given", "form"),
    [
        # A part is tried in every form; of its variants the dense one stands for the others.
        pytest.param(
            key, given, form, marks=[pytest.mark.slow] if given and form != "dense" and key[1] not in FEW_DRAWS else []
        )
        for key, given in PARTS
        for form in ("dense", "sparse", "nominal")
    ],
    ids=str,
)
def test_every_part_comes_back(key, given, form, tmp_path):
    (kind, name), part = key, FOUND[key]
    numeric = part.tasks == ("regress",)
    dense, y = _numbers() if numeric else _rows()
    X = {"dense": dense, "sparse": sp.csr_array(dense), "nominal": _frame()}[form]
    model = seeded(part.make(**given), 0)
    if form == "sparse" and not model.__sklearn_tags__().input_tags.sparse:
        pytest.skip("takes no sparse data")
    if form == "nominal":
        numbers_alone = given.get("metric") == "canberra" or part.numbers_only(given)
        if not part.takes_nominal or numbers_alone:
            pytest.skip("takes no nominal columns")
        # What stands around other models takes what they take.
        inner = {
            "committee": {"estimator": KNNRegressor(3) if kind == "regressor" else KNN(3)},
            "blend": {"estimators": [KNNRegressor(3)] if kind == "regressor" else [KNN(3), SSVTree()]},
            "tuned_first": {"estimator": KNN("auto"), "selector": Ranking("ssv", k=3)},
            "with_probes": {"estimator": Ranking("ssv")},
            "stability_selection": {"estimator": Ranking("ssv", k=3)},
        }
        wraps = part.card.only.get("estimator") and model.measure == "classifier"
        model.set_params(**({"estimator": KNN(3)} if wraps else inner.get(name, {})))
    model.fit(X, y)
    if given.get("library") == "lightgbm":
        # Its trees are read by compiled code before anybody can look at them.
        with pytest.raises(TamisError, match="cannot be saved"):
            _through(model, X, y, tmp_path / "m.tamis")
        return
    loaded, card = _through(model, X, y, tmp_path / "m.tamis")
    assert type(loaded) is type(model)
    assert to_text(loaded) == to_text(model) == card.recipe
    _assert_same(_answers(loaded, X), _answers(model, X))
    if hasattr(model, "get_support"):
        np.testing.assert_array_equal(loaded.get_support(), model.get_support())
    assert card.classes == (["rose", "tulip"] if kind == "classifier" else [])
    assert card.task == ("regress" if kind == "regressor" else "classify")
    assert set(card.columns.values()) == ({"numeric", "nominal"} if form == "nominal" else {"numeric"})


WHOLE = [
    "standardize | cc(3) | svm(linear, C=1)",
    "impute | encode | ssv(3) | knn(3)",
    "committee(3, cc(2) | svm(linear))",
    "vote(cc(3), ssv(3), at_least=1) | tree",
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_chain_prints_its_recipe_again(text, tmp_path):
    X, y = _rows()
    model = recipe(text).fit(X, y)
    loaded, card = _through(model, X, y, tmp_path / "m.tamis")
    assert to_text(loaded) == text == card.recipe
    _assert_same(predict_rows(loaded, X), predict_rows(model, X))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, random_state=0),
        ExtraTreesClassifier(5, random_state=0),
        GradientBoostingClassifier(n_estimators=3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3),
        LogisticRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_models_of_scikit_learn_come_back(model, tmp_path):
    X, y = _rows()
    whole = make_pipeline(StandardScaler(), Ranking(k=3), model).fit(X, y)
    loaded, card = _through(whole, X, y, tmp_path / "m.tamis")
    _assert_same(predict_rows(loaded, X), predict_rows(whole, X))
    assert len(card.uses) == 3


def test_the_card_tells_all(tmp_path):
    data = load("xor")
    model = recipe("cc(5) | knn(3)").fit(data.X, data.y)
    error = {"metric": "ber", "estimate": np.float64(0.25), "standard_error": float("nan"), "split": "10 folds"}
    path = tmp_path / "m.tamis"
    save_model(path, model, card_of(model, data, error=error))
    _, card = load_model(path)
    assert list(card.columns) == data.feature_names.tolist()
    assert card.uses == data.feature_names[model[0].get_support()].tolist()
    assert card.fingerprint == fingerprint(data)
    assert (card.classes, card.target, card.data, card.rows) == ([-1, 1], "class", "xor", 500)
    assert card.error == {"metric": "ber", "estimate": 0.25, "standard_error": None, "split": "10 folds"}
    assert set(card.versions) == {"tamis", "python", "numpy", "scipy", "scikit-learn"}
    assert card.created.endswith("+00:00")


def test_a_model_of_a_pandas_frame(tmp_path):
    X, y = _rows()
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(colour=["red", "green"] * 20)
    model = recipe("encode | cc(2) | knn(3)").fit(frame, y)
    loaded, card = _through(model, frame, y, tmp_path / "m.tamis", target="kind")
    assert list(card.columns) == [*"abcdef", "colour"]
    assert card.levels == {"colour": ["green", "red"]}
    _assert_same(predict_rows(loaded, frame), predict_rows(model, frame))


def test_which_columns_answers_depend_on():
    X, y = _rows()
    plain = recipe("standardize | cc(2) | knn(3)").fit(X, y)
    assert card_of(plain, X, y).needs == set(card_of(plain, X, y).uses)
    # Rows are divided by their length, which every column has a part in.
    normed = recipe("normalize | cc(2) | knn(3)").fit(X, y)
    assert len(card_of(normed, X, y).uses) == 2
    assert card_of(normed, X, y).needs == {f"x{j}" for j in range(1, 7)}
    inside = recipe("committee(3, normalize | cc(2) | svm(linear))").fit(X, y)
    assert card_of(inside, X, y).needs_all


def test_names_must_differ():
    X, y = _rows()
    with pytest.raises(TamisError, match="two columns have one name"):
        card_of(KNN().fit(X, y), X, y, feature_names=["a"] * 6)


# What cannot be saved.


def test_a_model_with_a_function_is_not_saved(tmp_path):
    X, y = _rows()
    path = tmp_path / "m.tamis"
    for step in (Ranking(np.linalg.norm, k=1), FunctionTransformer(os.getcwd), FunctionTransformer(lambda X: X)):
        model = make_pipeline(step, KNN())
        model.steps[-1][1].fit(X, y)
        card = replace(card_of(KNN().fit(X, y), X, y))
        with pytest.raises(TamisError, match=r"m\.tamis: the model cannot be saved"):
            save_model(path, model, card)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_half_written(tmp_path):
    X, y = _rows()
    model = KNN().fit(X, y)
    with pytest.raises(DataError, match="cannot be written"):
        save_model(tmp_path / "no" / "m.tamis", model, card_of(model, X, y))
    with pytest.raises(TamisError, match="numbers, text, lists and mappings"):
        save_model(tmp_path / "m.tamis", model, card_of(model, X, y, error={"metric": object()}))
    assert list(tmp_path.iterdir()) == []


# Files from anywhere.


@pytest.fixture
def good(tmp_path):
    """A sound file: its path, its card as JSON, its packed model."""
    X, y = _rows()
    model = recipe("cc(3) | knn(3)").fit(X, y)
    path = tmp_path / "good.tamis"
    save_model(path, model, card_of(model, X, y))
    with zipfile.ZipFile(path) as archive:
        return path, archive.read("card.json"), archive.read("model.skops")


def _put(folder: Path, members, compression=zipfile.ZIP_STORED) -> Path:
    path = folder / "bad.tamis"
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", compression) as archive:
        warnings.simplefilter("ignore")
        for name, content in members:
            archive.writestr(name, content)
    return path


def _refused(path: Path, says: str) -> None:
    with pytest.raises(DataError) as refusal:
        load_model(path)
    said = str(refusal.value)
    assert said.startswith(f"{path}: ")
    assert "\n" not in said
    assert says in said


class Spy:
    """Tells that it was made."""

    made: list[str] = []  # noqa: RUF012

    def __init__(self) -> None:
        self.made.append("made")

    def __setstate__(self, state) -> None:
        self.made.append("set")

    def method(self) -> None:
        self.made.append("called")


def _node(loader: str, module: str, name: str, **more) -> dict:
    return {"__class__": name, "__module__": module, "__loader__": loader, "__id__": 99, **more}


def _schema(node: dict, protocol: int = 2) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", json.dumps({**node, "protocol": protocol, "_skops_version": "0.16"}))
    return buffer.getvalue()


def _json_node(value) -> dict:
    return {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": json.dumps(value)}


def _tuple_node(*values) -> dict:
    return _node("TupleNode", "builtins", "tuple", content=[_json_node(value) for value in values])


def _dict_node(content: dict, key_type: dict | None = None) -> dict:
    one = key_type or _node("TypeNode", "builtins", "str")
    keys = _node("ListNode", "builtins", "list", content=[one] * len(content))
    return {**_node("DictNode", "builtins", "dict", content=content, key_types=keys), "__id__": 98}


CRAFTED = {
    "function": (skops.io.dumps(os.system), "posix.system"),
    "eval": (skops.io.dumps(eval), "builtins.eval"),
    "partial": (skops.io.dumps(functools.partial(os.system, "true")), "functools.partial"),
    "methodcaller": (skops.io.dumps(operator.methodcaller("system", "true")), "operator.methodcaller"),
    "method": (skops.io.dumps(KNN().fit), "MethodNode"),
    "own type": (skops.io.dumps(Spy()), "Spy"),
    "own method": (skops.io.dumps(Spy().method), "Spy"),
    "own class": (skops.io.dumps(Spy), "Spy"),
    "path": (skops.io.dumps(Path("/tmp")), "PosixPath"),
    "bytes": (skops.io.dumps(b"bytes"), "builtins.bytes"),
    "called": (
        _schema(_node("ConstructorFromReduceNode", "os", "system", content=_tuple_node("touch hit"))),
        "os.system",
    ),
    "called part": (
        _schema(_node("ConstructorFromReduceNode", "tamis.classify.knn", "KNN", content=_tuple_node(3))),
        "ConstructorFromReduceNode",
    ),
    "subprocess": (_schema(_node("ObjectNode", "subprocess", "Popen", content=_dict_node({}))), "subprocess.Popen"),
    "key type": (
        _schema(_dict_node({"touch hit": _json_node(1)}, _node("TypeNode", "os", "system"))),
        "os.system",
    ),
    "old key type": (
        _schema(_dict_node({"touch hit": _json_node(1)}, _node("TypeNode", "os", "system")), protocol=0),
        "os.system",
    ),
    "numpy function": (_schema(_node("TypeNode", "numpy", "load")), "numpy.load"),
    "list of another type": (
        _schema(_node("ListNode", "subprocess", "check_output", content=[_json_node("true")])),
        "subprocess.check_output",
    ),
    "scikit-learn's function": (
        _schema(_node("ObjectNode", "sklearn.utils", "check_array")),
        "sklearn.utils.check_array",
    ),
    "scikit-learn's module": (_schema(_node("ObjectNode", "sklearn.os", "system")), "sklearn.os.system"),
    # The name of scikit-learn 1.7, behind which other versions would find any module of that name.
    "a loss from elsewhere": (_schema(_node("LossNode", "_loss", "CyHuberLoss")), "_loss.CyHuberLoss"),
    "newer skops": (_schema(_json_node(1), protocol=9), "damaged, or was not written by tamis"),
    "unknown way": (_schema(_node("ShellNode", "os", "system")), "os.system"),
    "name of several lines": (_schema(_node("Shell\nNode", "os", "system")), r"(as 'Shell\nNode')"),
    "no model": (skops.io.dumps({"a": 1}), "holds no model"),
    "no schema": (_put, "damaged"),
    "pickle": (pickle.dumps(os.system), "damaged"),
}


@pytest.mark.parametrize("what", CRAFTED)
def test_a_crafted_model_is_refused(what, good, tmp_path, monkeypatch):
    packed, says = CRAFTED[what]
    if what == "no schema":
        packed = _put(tmp_path, [("other.json", "{}")]).read_bytes()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "system", lambda command: Spy.made.append(command))
    Spy.made.clear()
    _refused(_put(tmp_path, [("card.json", good[1]), ("model.skops", packed)]), says)
    assert Spy.made == []
    assert not (tmp_path / "hit").exists()


def test_a_loss_is_trusted_by_the_name_that_scikit_learn_gives_it(monkeypatch):
    packed = _schema(_node("LossNode", "_loss", "CyHalfBinomialLoss"))
    with monkeypatch.context() as patch:
        patch.setattr("tamis.compose.trusted.loss_types", lambda: (type("Other", (), {"__module__": "elsewhere"}),))
        with pytest.raises(RefusedError, match=r"_loss\.CyHalfBinomialLoss"):
            check_types(packed)
        patch.setattr(
            "tamis.compose.trusted.loss_types", lambda: (type("CyHalfBinomialLoss", (), {"__module__": "_loss"}),)
        )
        check_types(packed)


def test_a_crafted_part_inside_a_real_model_is_refused(good, tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good[2])) as old, zipfile.ZipFile(buffer, "w") as new:
        told = json.loads(old.read("schema.json"))
        told["content"]["content"]["memory"] = _node("FunctionNode", "os", "system")
        for name in old.namelist():
            new.writestr(name, json.dumps(told) if name == "schema.json" else old.read(name))
    _refused(_put(tmp_path, [("card.json", good[1]), ("model.skops", buffer.getvalue())]), "'os.system'")


def _zeros(size: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", bytes(size))
    return buffer.getvalue()


def test_archives_that_are_no_models_are_refused(good, tmp_path):
    path, card, model = good
    both = [("card.json", card), ("model.skops", model)]
    _refused(_put(tmp_path, [("card.json", card)]), "holds card.json and model.skops once each")
    _refused(_put(tmp_path, [("model.skops", model)]), "holds card.json and model.skops once each")
    _refused(_put(tmp_path, [*both, ("card.json", card)]), "once each")
    for name in ("../../evil.py", "/etc/passwd", "model.pkl"):
        _refused(_put(tmp_path, [*both, (name, "x")]), f"holds {name!r}, which is no part of a model file")
    assert not (tmp_path.parent.parent / "evil.py").exists()
    _refused(_put(tmp_path, both, zipfile.ZIP_DEFLATED), "packed in another way")
    bad = tmp_path / "bad.tamis"
    for content in (b"", b"not a zip", pickle.dumps(os.system), path.read_bytes()[: len(card) // 2]):
        bad.write_bytes(content)
        _refused(bad, "is not a model file, or it is damaged or cut short")
    _refused(tmp_path / "none.tamis", "no such file")
    _refused(tmp_path, "is a folder")


def test_small_files_that_grow_in_memory_are_refused(good, tmp_path):
    for name in ("1.npz", "1.bin"):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr(name, _zeros(300_000_000))
            archive.writestr("schema.json", "{}")
        _refused(_put(tmp_path, [("card.json", good[1]), ("model.skops", buffer.getvalue())]), "MB of memory")
    with zipfile.ZipFile(io.BytesIO(good[2])) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    packed = _put(tmp_path, members, zipfile.ZIP_DEFLATED).read_bytes()
    _refused(_put(tmp_path, [("card.json", good[1]), ("model.skops", packed)]), "packed in another way")


def test_a_file_cut_or_changed_anywhere_is_refused_or_sound(good, tmp_path):
    whole = good[0].read_bytes()
    rng = np.random.default_rng(0)
    bad = tmp_path / "bad.tamis"
    for at in rng.integers(0, len(whole), 25).tolist():
        bad.write_bytes(whole[:at])
        with pytest.raises(DataError, match=r"bad\.tamis: "):
            load_model(bad)
        changed = bytearray(whole)
        changed[at] ^= 0xFF
        bad.write_bytes(changed)
        with suppress(DataError):
            load_model(bad)


CARDS = {
    "not JSON": (lambda card: b"{", "its card is not JSON"),
    "not text": (lambda card: b"\xff\xfe", "its card is not JSON"),
    "nested": (lambda card: b"[" * 100_000, "its card is not JSON"),
    "a list": (lambda card: b"[]", "not that of a model"),
    "no layout": (lambda card: {k: v for k, v in card.items() if k != "layout"}, "not that of a model"),
    "another layout": (lambda card: card | {"layout": 2}, "another layout than 1"),
    "no recipe": (lambda card: {k: v for k, v in card.items() if k != "recipe"}, "no usable 'recipe'"),
    "odd kind": (lambda card: card | {"columns": {"a": "odd"}}, "no usable 'columns'"),
    "odd columns": (lambda card: card | {"columns": [1, 2]}, "no usable 'columns'"),
    "too few columns": (lambda card: card | {"columns": {"a": "numeric"}}, "1 columns and its model 6"),
    "odd error": (lambda card: card | {"error": 3}, "no usable 'error'"),
    "other classes": (lambda card: card | {"classes": ["a", "b"]}, "different classes"),
}


@pytest.mark.parametrize("what", CARDS)
def test_a_wrong_card_is_refused(what, good, tmp_path):
    change, says = CARDS[what]
    card = change(json.loads(good[1]))
    text = card if isinstance(card, bytes) else json.dumps(card)
    _refused(_put(tmp_path, [("card.json", text), ("model.skops", good[2])]), says)


def test_other_versions_are_told_of(good, tmp_path):
    card = json.loads(good[1])
    card["versions"]["scikit-learn"] = "0.1"
    path = _put(tmp_path, [("card.json", json.dumps(card)), ("model.skops", good[2])])
    with pytest.warns(UserWarning, match=r"was saved with scikit-learn 0\.1; here is scikit-learn") as told:
        load_model(path)
    assert len(told) == 1


# Numbers that do not fit together.


def _tree(X, y) -> SSVTree:
    return SSVTree().fit(X, y)


def _spoilt_tree(field: str, node: int, value: int):
    X, y = _rows()
    model = _tree(X, y)
    array = getattr(model.tree_, field).copy()
    array[node] = value
    model.tree_ = replace(model.tree_, **{field: array})
    return model


def _spoilt_forest(field: str, value: int):
    X, y = _rows()
    forest = RandomForestClassifier(2, random_state=0).fit(X, y)
    tree = forest.estimators_[0].tree_
    state = tree.__getstate__()
    state["nodes"] = state["nodes"].copy()
    state["nodes"][field][0] = value
    tree.__setstate__(state)
    return forest


def _spoilt_boost(field: str, value: int):
    X, y = _rows()
    boost = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=2).fit(X, y)
    boost._predictors[0][0].nodes[field][0] = value
    return boost


def _narrow_members():
    X, y = _rows()
    forest = RandomForestClassifier(2, random_state=0).fit(X, y)
    forest.n_features_in_ = 1
    return forest


def _wide_rows(model):
    X, y = _rows()
    model.fit(sp.csr_array(X), y)
    model._rows = sp.csr_array((X.shape[0], 99))
    return model


def _spoilt_sparse():
    matrix = sp.csr_array(_rows()[0])
    matrix.indices = matrix.indices.copy()
    matrix.indices[0] = 10**6
    return {"any": [matrix]}


@pytest.mark.parametrize(
    "make",
    [
        lambda: _spoilt_tree("left", 0, 10**6),
        lambda: _spoilt_tree("right", 0, -5),
        lambda: _spoilt_tree("left", 0, 0),
        lambda: _spoilt_tree("feature", 0, 6),
        lambda: _spoilt_tree("subset", -1, 10**6),
        lambda: _spoilt_forest("left_child", 10**6),
        lambda: _spoilt_forest("right_child", 0),
        lambda: _spoilt_forest("feature", 6),
        lambda: _spoilt_boost("left", 10**6),
        lambda: _spoilt_boost("feature_idx", 6),
        _narrow_members,
        lambda: _wide_rows(KNN(metric="canberra")),
        lambda: _wide_rows(NRBF()),
        _spoilt_sparse,
    ],
)
def test_indices_that_point_outside_are_refused(make):
    with pytest.raises(UnsoundError):
        check_sound(make())


def test_a_spoilt_tree_is_refused_by_its_file(tmp_path):
    X, y = _rows()
    model = _spoilt_tree("left", 0, 10**6)
    save_model(tmp_path / "m.tamis", model, card_of(_tree(X, y), X, y))
    _refused(tmp_path / "m.tamis", "a branch that leads out of it")


def test_a_card_needs_no_model_to_be_read():
    data = Dataset(*_rows(), np.array(list("abcdef")))
    card = card_of(KNN().fit(data.X, data.y), data)
    assert Card.from_json(card.to_json()) == card


@pytest.mark.parametrize("spoilt", ["nodes", "values", "classes"])
def test_a_tree_of_other_shapes_is_refused_before_it_is_made(spoilt, tmp_path):
    # scikit-learn's tree reads lengths that such arrays do not have, which ends the process.
    X, y = _rows()
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    path = tmp_path / "good.tamis"
    save_model(path, model, card_of(model, X, y))
    with zipfile.ZipFile(path) as archive:
        card, packed = archive.read("card.json"), archive.read("model.skops")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    (tree,) = (one for one in _nodes(json.loads(members["schema.json"])) if one["__loader__"] == "TreeNode")
    arrays = tree["content"]["content"] | {"classes": tree["__reduce__"]["args"]["content"][1]}
    np.save(spoilt_bytes := io.BytesIO(), np.arange(7) if spoilt == "classes" else np.array(7))
    members[arrays[spoilt]["file"]] = spoilt_bytes.getvalue()
    with zipfile.ZipFile(made := io.BytesIO(), "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    bad = _put(tmp_path, [("card.json", card), ("model.skops", made.getvalue())])
    _refused(bad, "holds a tree whose arrays have shapes that no tree has")


def test_a_trial_has_several_rows():
    X, y = _rows()
    model = ConvexNet().fit(X, y)
    card = card_of(model, X, y)
    check_prediction(model, card)
    # With a number for each row instead of one for each row and class, a single row would pass.
    model.coef_ = model.coef_[0]
    with pytest.raises(UnsoundError, match="could not broadcast"):
        check_prediction(model, card)


def test_a_trial_has_not_as_many_rows_as_classes():
    X, y = _rows()
    model = LogisticRegression().fit(X, y)
    card = card_of(model, X, y)
    model.coef_, model.intercept_ = np.vstack([model.coef_] * 2), model.intercept_ * np.ones((2, 1))
    with pytest.raises(UnsoundError):
        check_prediction(model, card)
