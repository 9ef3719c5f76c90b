"""GhostMiner's final models on the challenge's data come to what was published, within what it gave as deviation."""

import numpy as np
import pytest

from tamis.reproduce.framework.pieces import dataset
from tamis.reproduce.ghostminer import MADELON_CHOICE, ROWS
from tamis.validation.whole import validate

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _data(shared_data, monkeypatch):
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))


def recipe(data, part):
    """The first model of the table on a data set that has a part."""
    return next(row.recipe for row in ROWS if row.data == data and part in row.recipe)


@pytest.mark.parametrize(
    ("data", "part", "error", "within"),
    [
        ("arcene", "committee", 7.8, 5.0),
        ("dexter", "cc(8000)", 4.8, 2.0),
        ("dorothea", "stump(2000)", 12.3, 4.4),
        ("madelon", "nrbf", 9.0, 1.0),
    ],
)
def test_the_error_is_near_the_published_one(data, part, error, within):
    found = validate(recipe(data, part), dataset(data), split="pooled", repeats=3, metrics="ber", n_jobs=2)
    assert 100 * found.estimates["ber"].mean == pytest.approx(error, abs=within)


def test_the_committee_of_selectors_keeps_real_features():
    data = dataset("madelon")
    found = validate(f"{MADELON_CHOICE} | knn(5)", data, split="pooled", repeats=3, metrics="ber", n_jobs=2)
    probes = np.array([data.probes[kept].sum() for kept in found.selected])
    real = np.array([kept.size for kept in found.selected]) - probes
    assert real.min() >= 14
    assert probes.max() <= 3
