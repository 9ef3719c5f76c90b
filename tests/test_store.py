"""A run on disk: every number comes back bit for bit, what is known stays, and one run has one setting."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning

from findings import IDENTITY, result, same, same_array
from tamis.base.cut import NothingPasses
from tamis.base.errors import TamisError
from tamis.classify.svm.svm import NotSettled
from tamis.mining.run import store
from tamis.mining.run.packing import array_from_bytes, array_to_bytes
from tamis.mining.run.store import Finding, OtherVersions, Store
from tamis.validation.fold_result import FoldResult
from tamis.validation.metrics import FoldPredictions

WARNINGS = [UserWarning, RuntimeWarning, ConvergenceWarning, NothingPasses, NotSettled]


def floats(shape: tuple[int, ...], dtype: str) -> st.SearchStrategy[np.ndarray]:
    """Every pattern of bits, whatever number or none it stands for."""
    return arrays(f"u{dtype[1:]}", shape).map(lambda bits: bits.view(dtype))


@st.composite
def splits_of_results(draw: st.DrawFn) -> dict[str, Finding]:
    """Findings of a few recipes on one split."""
    n, n_classes = draw(st.integers(0, 6)), draw(st.sampled_from([1, 2, 2, 3, 300]))
    n_features = draw(st.sampled_from([0, 1, 7, 8, 9, 300, 70_000]))
    codes = arrays(draw(st.sampled_from(["i8", "i4", "u2", "u8"])), n, elements=st.integers(0, n_classes - 1))
    shared = {
        "repeat": draw(st.integers(0, 3)),
        "fold": draw(st.integers(0, 9)),
        "rows": draw(arrays(np.intp, n, elements=st.integers(0, 2**40))),
        "n_train": draw(st.integers(0, 2**33)),
        "n_features": n_features,
    }
    truth = draw(codes)
    seconds = st.floats(0, allow_nan=False)

    def one() -> Finding:
        if draw(st.integers(0, 4)) == 0:
            return TamisError(draw(st.text()))
        probabilities = draw(st.none() | floats((n, n_classes), draw(st.sampled_from(["f8", "f4"]))))
        forms = st.none() | floats((n,), "f8") | floats((n, n_classes), "f8")
        if probabilities is not None:
            forms |= st.sampled_from([probabilities, probabilities[:, -1], np.asfortranarray(probabilities)])
        selected = st.none() | st.just(np.arange(n_features)) | st.just(np.zeros(0, dtype=np.intp))
        share = draw(st.sampled_from([0.001, 0.5, 0.99]))
        selected |= st.integers(0, 9).map(lambda s: np.flatnonzero(np.random.default_rng(s).random(n_features) < share))
        return FoldResult(
            **shared,
            predictions=FoldPredictions(truth, draw(codes), n_classes, draw(forms), probabilities),
            metrics=draw(st.dictionaries(st.text(), st.floats(), max_size=4)),
            selected=draw(selected),
            fit_seconds=draw(seconds),
            predict_seconds=draw(seconds),
            alone_seconds=draw(seconds),
            warnings=tuple(draw(st.lists(st.tuples(st.sampled_from(WARNINGS), st.text()), max_size=2))),
        )

    return {name: one() for name in draw(st.lists(st.text(), max_size=3, unique=True))}


@given(findings=splits_of_results(), search=st.integers(0, 2**40), split=st.text())
def test_everything_comes_back_bit_for_bit(findings, search, split, folder: Path) -> None:
    path = folder / "drawn.tamis"
    path.unlink(missing_ok=True)
    with Store.open(path, IDENTITY) as run:
        run.put(search, split, findings)
        assert run.count() == len(findings)
        here = run.find(search, split, list(findings))
    with Store.read(path) as run:
        there = run.find(search, split, list(findings))
    for found in (here, there):
        assert list(found) == list(findings)
        assert all(same(found[recipe], findings[recipe]) for recipe in findings)


@given(array=st.sampled_from("?bBhHiIlLefd").flatmap(lambda kind: arrays(kind, st.sampled_from([(), 0, 3, (2, 0, 5)]))))
def test_arrays_of_every_kind_come_back(array) -> None:
    back = array_from_bytes(array_to_bytes(array), "biuf")
    assert same_array(back, array)
    assert back.flags.writeable
    swapped = array.astype(array.dtype.newbyteorder())
    assert same_array(array_from_bytes(array_to_bytes(swapped), "biuf"), array)


def test_what_is_not_there_is_left_out_and_the_order_is_the_askers(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.tamis", IDENTITY) as run:
        assert run.find(0, "1", ["knn(1)"]) == {}
        run.put(0, "1", {f"knn({k})": result(k) for k in (1, 3, 5)})
        run.put(0, "2", {})
        assert list(run.find(0, "1", ["knn(5)", "knn(4)", "knn(1)"])) == ["knn(5)", "knn(1)"]
        assert run.find(1, "1", ["knn(1)"]) == run.find(0, "2", ["knn(1)"]) == {}
        assert run.count() == 3


def test_what_is_known_stays(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.tamis", IDENTITY) as run:
        run.put(0, "1", {"a": result(1), "c": TamisError("no")})
        run.put(0, "1", {"a": result(2), "b": result(3), "c": result(4)})
        found = run.find(0, "1", ["a", "b", "c"])
    assert same(found["a"], result(1))
    assert same(found["b"], result(3))
    assert same(found["c"], TamisError("no"))


def test_a_put_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.tamis", IDENTITY) as run:
        run.put(0, "1", {"a": result(1)})
        with pytest.raises(TamisError, match=r"a\.tamis: split 1 of search 0 has other test rows than before"):
            run.put(0, "1", {"b": result(2), "c": result(3, rows=np.arange(20))})
        with pytest.raises(ValueError, match="ascending order"):
            run.put(0, "1", {"b": result(2), "c": result(3, selected=np.array([3, 2]))})
        assert run.count() == 1
        run.put(0, "1", {"b": result(2)})
        assert run.count() == 2


def test_small_facts_are_kept_beside(tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    with Store.open(path, IDENTITY) as run:
        assert run.noted("elapsed") is None
        assert run.noted("elapsed", 0.0) == 0.0
        run.note("elapsed", 1.5)
        run.note("elapsed", 0.1 + 0.2)
        run.note("chosen", {"recipes": ["cc(5) | knn"], "none": None})
    with Store.read(path) as run:
        assert run.noted("elapsed") == 0.1 + 0.2
        assert run.noted("chosen") == {"recipes": ["cc(5) | knn"], "none": None}
        for refused in (lambda: run.note("elapsed", 2), lambda: run.put(0, "1", {"a": result()})):
            with pytest.raises(TamisError, match=r"a\.tamis: was opened to be read"):
                refused()


def test_any_sqlite_program_can_look_into_a_run(tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    with Store.open(path, IDENTITY) as run:
        run.put(2, "1/3", {"a": result(1), "b": TamisError("no rows")})
        selected = result(1).selected
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT search, split, recipe, n_selected, error FROM results").fetchall()
        (metrics,) = connection.execute("SELECT metrics FROM results WHERE recipe = 'a'").fetchone()
    assert rows == [(2, "1/3", "a", selected.size, None), (2, "1/3", "b", None, "no rows")]
    assert json.loads(metrics) == {"ber": result(1).metrics["ber"], "auc": None}


def test_warnings_keep_their_class_where_it_can_be_found_again(tmp_path: Path) -> None:
    class Local(NothingPasses):
        pass

    given = ((Local, "a"), (LinAlgWarning, "b"), (DeprecationWarning, "c"), (NotSettled, "d"), (Warning, "e"))
    with Store.open(tmp_path / "a.tamis", IDENTITY) as run:
        run.put(0, "1", {"a": result(warnings=given)})
        found = run.find(0, "1", ["a"])["a"].warnings
    expected = (
        (NothingPasses, "a"),
        (RuntimeWarning, "b"),
        (DeprecationWarning, "c"),
        (NotSettled, "d"),
        (Warning, "e"),
    )
    assert found == expected


def test_an_error_with_the_name_of_an_odd_file_is_kept(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.tamis", IDENTITY) as run:
        run.put(0, "1", {"a": TamisError("caf\udce9.csv: is empty")})
        assert str(run.find(0, "1", ["a"])["a"]) == "caf\\udce9.csv: is empty"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"fingerprint": "77"}, "this run was made from other data (madelon has changed since);"),
        ({"fingerprint": "77", "data": "colon"}, "this run was made from other data (madelon, not colon);"),
        ({"fingerprint": "77", "seed": 1}, "this run was made from other data (madelon has changed since);"),
        ({"seed": 1}, "this run was made with seed 0, not 1;"),
        ({"metric": "auc"}, "this run was made with metric ber, not auc;"),
        ({"without": []}, 'this run was made with without ["forest"], not [];'),
        ({"groups": 3}, "this run was made with groups unset, not 3;"),
        ({"data": "colon"}, "this run was made with data madelon, not colon;"),
    ],
)
def test_a_run_made_with_another_setting_is_refused(change, sentence, tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    with Store.open(path, IDENTITY) as run:
        run.put(0, "1", {"a": result()})
    before = path.read_bytes()
    with pytest.raises(TamisError) as caught:
        Store.open(path, IDENTITY | change)
    assert str(caught.value) == f"{path}: {sentence} name another run file or delete it"
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.tamis"]


def test_the_order_of_settings_does_not_matter_nor_do_tuples(tmp_path: Path) -> None:
    Store.open(tmp_path / "a.tamis", IDENTITY | {"more": {"x": 1, "y": (2, 3)}}).close()
    again = {"more": {"y": [2, 3], "x": 1}} | dict(reversed(IDENTITY.items()))
    Store.open(tmp_path / "a.tamis", again).close()


def test_other_versions_are_told_of_once_they_have_made_results(tmp_path: Path, monkeypatch) -> None:
    path, now = tmp_path / "a.tamis", store.made_with()
    assert list(now) == ["tamis", "python", "numpy", "scipy", "scikit-learn"]
    with Store.open(path, IDENTITY) as run:
        run.put(0, "1", {"a": result(1)})
    Store.open(path, IDENTITY).close()
    monkeypatch.setattr(store, "made_with", lambda: now | {"numpy": "99.0"})
    said = (
        rf"a\.tamis: has results made with numpy {now['numpy']}; results made with numpy 99\.0 will be mixed with them"
    )
    with pytest.warns(OtherVersions, match=said) as caught:
        run = Store.open(path, IDENTITY)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert run.versions["numpy"] == [now["numpy"]]
    run.put(0, "1", {"b": result(2)})
    run.close()
    monkeypatch.undo()
    with (
        pytest.warns(OtherVersions, match=r"made with numpy 99\.0; results made with numpy"),
        Store.open(path, IDENTITY) as run,
    ):
        assert run.versions == {name: [version] for name, version in now.items()} | {"numpy": [now["numpy"], "99.0"]}


def test_a_warning_that_is_an_error_leaves_the_run_free(tmp_path: Path, monkeypatch) -> None:
    path, now = tmp_path / "a.tamis", store.made_with()
    with Store.open(path, IDENTITY) as run:
        run.put(0, "1", {"a": result(1)})
    monkeypatch.setattr(store, "made_with", lambda: now | {"numpy": "99.0"})
    with pytest.raises(OtherVersions):
        Store.open(path, IDENTITY)
    monkeypatch.undo()
    Store.open(path, IDENTITY).close()
