"""Every part on a table of numbers, names and gaps: from a recipe, with what the data needs in front."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tamis
from sampled import with_few_draws
from tamis.base.errors import TamisError
from tamis.compose.catalog import catalog
from tamis.data.dataset import Dataset

ROWS = 90


def table(levels: int = 12) -> tuple[pl.DataFrame, np.ndarray]:
    """Numbers and names with gaps, a name for almost every row, and three classes, one of them rare."""
    rng = np.random.default_rng(0)
    y = np.array(["healthy", "ill", "dead"])[np.r_[np.zeros(45, int), np.ones(36, int), np.full(9, 2)]]
    numbers = {f"x{j}": rng.normal(size=ROWS) + 2 * (j == 0) * (y == "ill") for j in range(4)}
    gaps = {name: [None if i % 11 == 3 else float(v) for i, v in enumerate(column)] for name, column in numbers.items()}
    names = {
        "sex": [None if i % 9 == 0 else "mf"[i % 2] for i in range(ROWS)],
        "town": [f"t{i}" for i in rng.integers(0, levels, ROWS)],
        "grade": np.where(y == "dead", "high", np.where(rng.random(ROWS) < 0.3, "low", "middle")).tolist(),
    }
    return pl.DataFrame(gaps | names), y


#: Parts for counts, which refuse the negative numbers of the table.
COUNTS = ("chi2", "kl", "pipp", "tfv", "ti", "bigrams", "tfidf")


def recipes() -> list[str]:
    """Every part with its defaults: a classifier alone, others before one."""
    known = [one for one in catalog().values() if one.name not in COUNTS and "classify" in one.tasks]
    return [with_few_draws(one.name) if one.kind == "classifier" else f"{one.name} | nb" for one in known]


@pytest.mark.parametrize("recipe", recipes())
@pytest.mark.filterwarnings("ignore")
def test_every_part_takes_the_table(recipe: str) -> None:
    X, y = table()
    found = tamis.validate(recipe, X, y, folds=3)
    assert 0.0 <= found.estimates["ber"].mean <= 1.0
    last, wanted = (text.split(" | ")[-1].partition("(")[0] for text in (found.recipe, recipe))
    assert last == wanted


@pytest.mark.parametrize("recipe", ["boost", "forest", "lda", "svm", "from_model(forest) | nb", "cc(5) | knn"])
@pytest.mark.filterwarnings("ignore")
def test_many_levels_are_no_obstacle(recipe: str) -> None:
    X, y = table(levels=400)
    tamis.validate(recipe, X, y, folds=2)


@pytest.mark.parametrize("name", COUNTS)
def test_a_part_for_counts_refuses_negative_numbers(name: str) -> None:
    with pytest.raises(TamisError, match=f"Negative values in data.*{name}"):
        tamis.validate(f"{name} | nb", *table(), folds=2)


@pytest.mark.filterwarnings("ignore")
def test_all_forms_of_a_table_give_the_same() -> None:
    X, y = table()
    pandas = pd.DataFrame(X.to_dict(as_series=False))
    found = [tamis.validate("cc(4) | logistic", one, y, folds=3) for one in (X, pandas, pandas.to_numpy(dtype=object))]
    assert {one.recipe for one in found} == {"impute | encode | cc(4) | logistic"}
    assert len({one.estimates["ber"].mean for one in found}) == 1


def test_what_a_data_set_says_of_its_columns() -> None:
    X, y = table()
    pandas = pd.DataFrame(X.to_dict(as_series=False))
    for one in (X, pandas, pandas.to_numpy(dtype=object)):
        data = Dataset.of(one, y)
        assert data.nominal.tolist() == [False] * 4 + [True] * 3
        assert data.n_missing == 42


def test_an_estimator_stays_as_it_is() -> None:
    with pytest.raises(TamisError, match="begin the recipe with impute"):
        tamis.validate(tamis.recipe("svm"), *table(), folds=2)
