"""Every classifier on few rows, rare classes, many classes and many columns: sensible, or ruled out by its card."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import balanced_accuracy_score

from tamis.base.seeds import seeded
from tamis.base.types import Matrix
from tamis.compose.catalog import catalog
from tamis.compose.chain import Chain
from tamis.compose.recipe import recipe
from tamis.data.dataset import Dataset
from tamis.mining.data_traits import data_traits
from tamis.mining.space import Space, space
from tamis.mining.variation import middle

#: The largest balanced error, as a share of that of one class for all rows.
MOST = 0.6


@dataclass(frozen=True)
class Problem:
    """Classes with means of their own in the first columns, and noise in the others."""

    sizes: tuple[int, ...]
    columns: int
    strong: int
    shift: float = 2.0
    constant: int = 0
    sparse: bool = False

    def draw(self, sizes: tuple[int, ...], seed: int) -> tuple[Matrix, np.ndarray]:
        """Rows of each class."""
        means = self.shift * np.random.default_rng(9).normal(size=(len(sizes), self.strong))
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
        if self.sparse:
            X = sp.random_array((y.size, self.columns), density=0.01, format="csr", rng=rng)
            own = np.arange(self.strong) % len(sizes) == y[:, None]
            return sp.hstack([sp.csr_array(own * rng.uniform(1, 2, own.shape)), X[:, self.strong :]], format="csr"), y
        X = rng.normal(size=(y.size, self.columns))
        X[:, : self.strong] += means[y]
        X[:, self.columns - self.constant :] = 7.0
        return X, y


PROBLEMS = {
    "38 rows": Problem((27, 11), 200, strong=40),
    "a class of three": Problem((40, 17, 3), 30, strong=20),
    "14 classes of 60 rows": Problem((5,) * 4 + (4,) * 10, 50, strong=40),
    "two rows a class": Problem((2,) * 6, 40, strong=40, shift=3.0),
    "ten rows": Problem((5, 5), 5, strong=4, shift=4.0),
    "constant columns": Problem((15, 15), 20, strong=5, shift=3.0, constant=10),
    "one strong column": Problem((20, 20), 10, strong=1, shift=10.0),
    "100000 sparse columns": Problem((20, 20, 20), 100_000, strong=60, sparse=True),
    "100000 columns": Problem((30, 30), 100_000, strong=5_000, shift=1.0),
}
WIDE = [name for name in PROBLEMS if name.startswith("100000")]
CLASSIFIERS = [part.name for part in catalog().values() if part.kind == "classifier"]
#: Classifiers of the search that the data rules out.
RULED_OUT = {
    "two rows a class": {"lda", "tree", "c45", "nrbf", "esnb", "mdl_histogram", "committee"},
    "100000 sparse columns": {"lda", "boost", "esnb"},
    "100000 columns": {"esnb"},
}
#: What no search tries, and is at chance here in three of ten draws.
UNRELIABLE = {"38 rows": {"incnet"}}
#: What needs others to be made of, or many draws.
GIVEN = {
    "blend": "blend(knn(1), centroid)",
    "bayes_net": "bayes_net(3, draws=100, warmup=100, chains=1, leapfrog=20)",
    "diffusion_tree": "diffusion_tree(draws=10, warmup=10)",
}


@cache
def train_and_test(name: str) -> tuple[Matrix, np.ndarray, Matrix, np.ndarray]:
    problem = PROBLEMS[name]
    tested = (8,) * len(problem.sizes)
    return *problem.draw(problem.sizes, seed=0), *problem.draw(tested, seed=1)


@cache
def space_of(name: str, seconds: float | None = None) -> Space:
    X, y, _, _ = train_and_test(name)
    return space(data_traits(Dataset.of(X, y)), seconds=seconds)


def searched(name: str, seconds: float | None = None) -> set[str]:
    """The classifiers that the search tries on a problem; those that take long only where its time affords them."""
    tried = space_of(name, seconds)
    return {one[-1].name for one in tried.classifiers} | set(tried.committees)


def recipes(name: str, part: str) -> list[str]:
    """A classifier with its defaults, unless its card keeps these for dense data, and where the search begins."""
    starts = [str(Chain(middle(one)[1])) for one in space_of(name).classifiers if one[-1].name == part]
    kept = catalog()[part].card.dense_only if PROBLEMS[name].sparse else {}
    usual = all(catalog()[part].parameters[parameter].default not in values for parameter, values in kept.items())
    return [GIVEN.get(part, part)] * usual + starts


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_card_rules_out_what_would_fail(name: str) -> None:
    never = {part.name for part in catalog().values() if part.kind == "classifier" and not part.card.searched}
    assert set(CLASSIFIERS) - searched(name, seconds=np.inf) - never == RULED_OUT.get(name, set())


@pytest.mark.parametrize("part", CLASSIFIERS)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in WIDE else name for name in PROBLEMS]
)
@pytest.mark.filterwarnings("ignore::tamis.bayes.drawn.NotMixedWarning")
def test_a_classifier_is_sensible_or_not_tried(name: str, part: str) -> None:
    if part in UNRELIABLE.get(name, ()):
        assert not catalog()[part].card.searched
        return
    if part in RULED_OUT.get(name, ()):
        return
    X, y, Z, truth = train_and_test(name)
    for text in recipes(name, part):
        check_sensible(text, part, (X, y), (Z, truth))


@pytest.mark.parametrize("part", sorted(searched("two rows a class") - {"blend"}))
def test_one_row_of_each_class_in_a_fold_is_enough_for_what_the_search_tries(part: str) -> None:
    X, y, Z, truth = train_and_test("two rows a class")
    rows = np.unique(y, return_index=True)[1]
    for text in recipes("two rows a class", part)[1:]:  # without the defaults
        check_sensible(text, part, (X[rows], y[rows]), (Z, truth))


def check_sensible(text: str, part: str, train: tuple[Matrix, np.ndarray], test: tuple[Matrix, np.ndarray]) -> None:
    """Fit on some rows; on the others the evidence is finite and the balanced error well below chance."""
    scaled = catalog()[part].card.scale_invariant or sp.issparse(train[0])
    model = seeded(recipe(text if scaled else f"standardize | {text}"), 0).fit(*train)
    evidence = model.predict_proba(test[0]) if hasattr(model, "predict_proba") else model.decision_function(test[0])
    assert np.isfinite(evidence).all()
    error = 1 - balanced_accuracy_score(test[1], model.predict(test[0]))
    chance = 1 - 1 / np.unique(train[1]).size
    assert error < MOST * chance, f"{text}: balanced error {error:.3f} of {chance:.3f}"
