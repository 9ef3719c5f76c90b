"""Every public way to an error, on noise: what it shows, and what it says where that is not the truth, 0.50.

    python -m benchmarks flattering

Noise of 60 rows and 1000 columns, two classes of equal size. A path that shows another accuracy than 0.50 must say so
at the place; those of the last part cannot know, and docs/reliability.md says so for them.
"""

import io
import tempfile
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.model_selection import cross_val_score

import tamis
from tamis.data.dataset import Dataset
from tamis.data.write import write
from tamis.mining.mined import Mined
from tamis.validation.many import Validations, validate_many
from tamis.validation.nested import validate_nested
from tamis.validation.result import Validation

SEEDS = 10
ROWS, COLUMNS = 60, 1000
RECIPE, MANY = "cc(20) | svm(linear)", "cc({2, 5, 10, 20, 50}) | {knn(1), knn(5), svm(linear), nb}"

#: An accuracy, and what was said beside it; empty where nothing was.
Shown = tuple[float, str]


def noise(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes that have nothing to do with each other."""
    return np.random.default_rng(seed).standard_normal((ROWS, COLUMNS)), np.arange(ROWS) % 2


def said(found: object) -> str:
    """The warnings in the text of a result."""
    return "; ".join(line.removeprefix("beware: ") for line in str(found).splitlines() if line.startswith("beware: "))


def accuracy(found: Validation) -> float:
    return found.summary()["accuracy"].mean


def one(found: Validation) -> Shown:
    return accuracy(found), said(found)


# The truth.


def whole(seed: int) -> Shown:
    """validate"""
    return one(tamis.validate(RECIPE, *noise(seed), seed=seed))


def bootstrap(seed: int) -> Shown:
    """validate, .632+ bootstrap"""
    return one(tamis.validate(RECIPE, *noise(seed), split="bootstrap", repeats=30, seed=seed))


def sklearn_folds(seed: int) -> Shown:
    """cross_val_score of a recipe"""
    return float(cross_val_score(tamis.recipe(RECIPE), *noise(seed), cv=10).mean()), ""


def shared(seed: int) -> Shown:
    """validate_many, mean of all that share fits"""
    found = validate_many(MANY, *noise(seed), metrics="accuracy", seed=seed)
    return float(np.mean([accuracy(each) for each in found])), ""


def nested(seed: int) -> Shown:
    """validate_nested"""
    return one(_nested(seed).validation)


def mined(seed: int) -> Shown:
    """mine, estimate="nested": validation_"""
    return one(_mined(seed).validation_)


# Not the truth, and it says so.


def best_of_many(seed: int) -> Shown:
    """validate_many, the best"""
    found: Validations = validate_many(MANY, *noise(seed), metrics="accuracy", seed=seed)
    return accuracy(found.best), said(found)


def leaked(seed: int) -> Shown:
    """validate, leak_check=True: the leak"""
    found = tamis.validate(RECIPE, *noise(seed), leak_check=True, seed=seed)
    assert found.leak is not None
    return accuracy(found.leak), next(line for line in str(found).splitlines() if line.startswith("leak check"))


def inner_choice(seed: int) -> Shown:
    """validate_nested, inner_estimate"""
    return _nested(seed).inner_estimate, "inner estimate"


def leaderboard(seed: int) -> Shown:
    """mine, the best of leaderboard_"""
    found = _mined(seed)
    return float(found.leaderboard_["accuracy"].max()), _line(found, "inner estimate")  # type: ignore[arg-type]


def inner_estimate(seed: int) -> Shown:
    """mine, inner_estimate_"""
    found = _mined(seed)
    return found.inner_estimate_.mean, _line(found, "inner estimate")


def own_rows(seed: int) -> Shown:
    """mine, score on its own rows"""
    found = _mined(seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = found.score(*noise(seed))
    return value, str(caught[0].message) if caught else ""


def folds_of_mined(seed: int) -> Shown:
    """cross_val_score of the result of mine"""
    try:
        found = cross_val_score(_mined(seed), *noise(seed), cv=5, error_score="raise")
    except ValueError as error:
        return float("nan"), f"refused: {error}"
    return float(found.mean()), ""


def selected_file(ending: str) -> Callable[[int], Shown]:
    def path(seed: int) -> Shown:
        with tempfile.TemporaryDirectory() as folder:
            source, selected = Path(folder, "noise.npz"), Path(folder, f"selected{ending}")
            write(_named(*noise(seed)), source)
            _command("select", source, "cc(20)", "--output", selected)
            return one(tamis.validate("svm(linear)", tamis.load(selected), seed=seed))

    path.__doc__ = f"tamis select --output x{ending}, validate on it"
    return path


def predicted(seed: int) -> Shown:
    """tamis select --save, predict its own rows"""
    with tempfile.TemporaryDirectory() as folder:
        source, model = Path(folder, "noise.npz"), Path(folder, "noise.tamis-model")
        write(_named(*noise(seed)), source)
        _command("select", source, RECIPE, "--save", model)
        found = tamis.predict(model, source)
        assert found.error is not None
        return found.error["accuracy"], "; ".join(found.notes)


def encoded(seed: int) -> Shown:
    """a level of 300 replaced by its class rate"""
    rows = np.random.default_rng([seed, 1])
    many, level = rows.integers(0, 2, 600), rows.integers(0, 300, 600)
    rates = (np.bincount(level, weights=many, minlength=300) / np.maximum(1, np.bincount(level, minlength=300)))[level]
    return one(tamis.validate("logistic", np.column_stack([rows.random((600, 3)), rates]), many, seed=seed))


def repeated(seed: int) -> Shown:
    """every row twice"""
    X, y = noise(seed)
    return one(tamis.validate("knn(1)", np.vstack([X, X]), np.append(y, y), seed=seed))


def forgotten_groups(seed: int) -> Shown:
    """three rows a patient, whose column is there"""
    X, y, patients = _patients(seed)
    frame = pl.DataFrame(X).with_columns(patient=pl.Series([f"p{number}" for number in patients]))
    data = Dataset.of(frame, y)
    return one(tamis.validate("encode | knn(1)", data, seed=seed))


def known_groups(seed: int) -> Shown:
    """the same with groups"""
    X, y, patients = _patients(seed)
    return one(tamis.validate("knn(1)", X, y, groups=patients, seed=seed))


# Not the truth, and it cannot be known there.


def silent_groups(seed: int) -> Shown:
    """three rows a patient, nothing tells"""
    X, y, _ = _patients(seed)
    return one(tamis.validate("knn(1)", X, y, seed=seed))


def selected_array(seed: int) -> Shown:
    """fit_transform on all rows, then validate the array"""
    X, y = noise(seed)
    return one(tamis.validate("svm(linear)", tamis.recipe("cc(20)").fit_transform(X, y), y, seed=seed))


def chosen_recipe(seed: int) -> Shown:
    """validate the recipe that mine chose"""
    return one(tamis.validate(_mined(seed).recipe_, *noise(seed), seed=seed))


def left_one_out(seed: int) -> Shown:
    """a level replaced by the class rate of its other rows"""
    rows = np.random.default_rng([seed, 1])
    y, level = rows.integers(0, 2, 600), rows.integers(0, 100, 600)
    sizes, sums = np.bincount(level, minlength=100), np.bincount(level, weights=y, minlength=100)
    rates = (sums[level] - y) / np.maximum(1, sizes[level] - 1)
    X = np.column_stack([rows.random((600, 3)), rates])
    return one(tamis.validate("tree", X, y, seed=seed))


HONEST = (whole, bootstrap, sklearn_folds, shared, nested, mined, known_groups)
SAYS_SO = (
    *(best_of_many, leaked, inner_choice, leaderboard, inner_estimate, own_rows, folds_of_mined, predicted),
    *map(selected_file, (".parquet", ".npz", ".csv", ".csv.gz")),
    *(encoded, repeated, forgotten_groups),
)
SILENT = (silent_groups, selected_array, chosen_recipe, left_one_out)


def _named(X: np.ndarray, y: np.ndarray) -> Dataset:
    return Dataset(X, y, np.array([f"g{j}" for j in range(X.shape[1])]))


def _patients(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three rows of each of twenty patients, which differ little, and classes at random by patient."""
    rng = np.random.default_rng(seed)
    patients = np.repeat(np.arange(20), 3)
    X = rng.standard_normal((20, 50))[patients] + 0.1 * rng.standard_normal((60, 50))
    return X, rng.permutation(np.arange(20) % 2)[patients], patients


def _nested(seed: int):  # type: ignore[no-untyped-def]
    recipes = "cc({5, 20}) | {knn(5), svm(linear)}"
    return validate_nested(recipes, *noise(seed), folds=5, inner_folds=3, metrics="accuracy", seed=seed)


_SEARCHES: dict[int, Mined] = {}


def _mined(seed: int) -> Mined:
    if seed not in _SEARCHES:
        templates = ["cc | knn", "s2n | svm(linear)"]
        options = {"trials": 10, "only": templates, "engine": "serial", "progress": False, "metric": "accuracy"}
        found = tamis.mine(*noise(seed), estimate="nested", folds=3, inner_folds=3, seed=seed, **options)
        _SEARCHES[seed] = found
    return _SEARCHES[seed]


def _line(found: object, word: str) -> str:
    return next(line for line in str(found).splitlines() if word in line)


def _command(*words: object) -> None:
    """One command of the command line, in this process."""
    from typer.main import get_command

    from tamis.cli.main import app

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        get_command(app).main([str(word) for word in words], standalone_mode=False)


def main(seeds: int = SEEDS) -> None:
    print("| path | accuracy | says |\n|---|---|---|")
    for paths in (HONEST, SAYS_SO, SILENT):
        for path in paths:
            shown = [path(seed) for seed in range(seeds)]
            values = [value for value, _ in shown]
            mean = "none" if np.isnan(values).all() else f"{np.mean(values):.2f}"
            words = {text for _, text in shown}
            every = "" if "" in words and len(words) > 1 else sorted(words)[0]
            print(f"| {path.__doc__} | {mean} | {every.replace('|', '/')} |", flush=True)


if __name__ == "__main__":
    main()
