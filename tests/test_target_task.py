"""Whether a target holds classes or numbers: the guess, the note on it, and what the user says."""

import numpy as np
import polars as pl
import pytest

import tamis
from tamis.base.errors import TamisError
from tamis.base.task import numeric_target, task_of
from tamis.data import Reading
from tamis.data.dataset import Dataset
from tamis.data.target_task import guess_task

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.array(["a", "b"]), "classify"),
        (np.array([0, 1, 1]), "classify"),
        (np.array([0.5, 1.5, 1.5]), "classify"),
        (np.array([0.5, 1.5, 2.5]), "regress"),
        (np.arange(20), "classify"),
        (np.arange(21), "regress"),
        (np.arange(21.0), "regress"),
        (np.repeat(np.arange(26), 60), "classify"),
        (np.repeat(np.arange(26), 10), "regress"),
        (np.repeat(np.arange(60), 60), "regress"),
        (np.array([True, False]), "classify"),
    ],
)
def test_values_tell_the_task(y: np.ndarray, task: str) -> None:
    assert guess_task(y)[0] == task
    assert Dataset.of(RNG.normal(size=(y.size, 2)), y).task == task


def test_numbers_become_floats_and_have_no_classes() -> None:
    data = Dataset.of(RNG.normal(size=(30, 2)), np.arange(30))
    assert data.y.dtype == np.float64
    assert data.classes.size == 0


def test_the_user_decides() -> None:
    X = RNG.normal(size=(30, 2))
    assert Dataset.of(X, np.arange(30) // 3 * 10, task="classify").classes.size == 10
    assert Dataset.of(X, np.arange(30) % 2, task="regress").task == "regress"
    halves = Dataset.of(X, np.arange(30) % 3 / 2, task="classify")
    assert halves.classes.tolist() == ["0", "0.5", "1"]
    with pytest.raises(TamisError, match="data needs numbers; the target holds 'a'"):
        Dataset.of(X, ["a"] * 15 + ["b"] * 15, task="regress")


def test_a_data_set_keeps_its_task_and_its_rows_do() -> None:
    data = Dataset.of(RNG.normal(size=(30, 2)), np.arange(30) % 3, task="regress")
    assert Dataset.of(data).task == data.rows(np.arange(5)).task == "regress"


def test_a_file_says_what_was_guessed(tmp_path) -> None:
    path = tmp_path / "ages.csv"
    table = pl.DataFrame({"height": RNG.normal(size=40).round(3), "age": np.arange(40), "level": np.arange(40) % 12})
    table.write_csv(path)
    ages = tamis.load(path, "age")
    assert ages.task == "regress"
    assert "the target 'age' holds numbers (40 different whole numbers in 40 rows); --task classify" in ages.notes[-1]
    levels = tamis.load(path, "level")
    assert levels.task == "classify"
    assert "the target 'level' holds 12 classes (12 different values); --task regress" in levels.notes[-1]
    told = tamis.load(path, "level", reading=Reading(task="classify"))
    assert (told.task, told.classes.size) == ("classify", 12)
    assert not any("--task" in note for note in told.notes)
    with pytest.raises(TamisError, match="task must be auto, classify or regress; got 'regression'"):
        Reading(task="regression")


def test_a_target_without_variation_or_with_holes_is_refused() -> None:
    X = RNG.normal(size=(4, 2))
    with pytest.raises(TamisError, match=r"the target has one value, 2\.0, so there is nothing to predict"):
        Dataset.of(X, [2.0] * 4, task="regress")
    holes = Dataset(X, np.array([1.0, np.nan, 2.0, 3.0]), np.array(["a", "b"]), task="regress")
    with pytest.raises(TamisError, match="the number of row 2 is missing"):
        Dataset.of(holes)


def test_an_estimator_takes_fractions_for_numbers() -> None:
    assert [task_of(y) for y in ([0.5, 1.0], [1.0, 2.0], [1, 2], ["x"], [np.nan, 1.0])] == [
        "regress",
        "classify",
        "classify",
        "classify",
        "classify",
    ]
    with pytest.raises(TamisError, match="the target of row 1 is inf"):
        numeric_target([1.0, np.inf], "ridge")
