"""The algorithms and learners of the experiment, with the settings of section 5.2."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tamis.select import LVF, SBS, SFS, BestFirst, Focus, Fortal, Genetic, RandomWrapper, Ranking

#: Sets that Focus may evaluate; its number of sets grows exponentially.
FOCUS_SETS = 200_000


@dataclass(frozen=True)
class Learner:
    """A classifier, and the steps in front of it that see no classes, as recipes.

    The steps in front are fitted once on the rows from which columns are selected, rather than for every set and fold.
    """

    classifier: str
    front: str = ""

    @property
    def recipe(self) -> str:
        """The whole model."""
        return f"{self.front} | {self.classifier}" if self.front else self.classifier


@dataclass(frozen=True)
class Algorithm:
    """A way to select columns.

    Attributes
    ----------
    name : str
        The name in the paper's text.
    make : callable
        ``make(learner, n_features, seed)`` returns a selector; None selects all columns.
    wraps : bool, default=True
        Whether it uses the learner; its rows then pass the steps in front of it.
    """

    name: str
    make: Callable[[Any, int, int], Any]
    wraps: bool = True


#: The learners of the experiment.
LEARNERS: dict[str, Learner] = {
    "C4.5": Learner("c45"),
    "naive Bayes": Learner("nb"),
    "k-NN": Learner("knn", "impute"),
}


def _fortal(times: int) -> Algorithm:
    return Algorithm(
        f"FortalFS ({times}·N)",
        lambda learner, n_features, seed: Fortal(learner, k=10, n_iter=times * n_features, random_state=seed),
    )


def _guided(selector: Any, *, weights: bool = False) -> Algorithm:
    """FortalFS (10·N) guided by another selector than LVF, or by its scores."""
    return Algorithm(
        "FortalFS",
        lambda learner, n_features, seed: Fortal(
            learner, selector=selector, n_iter=10 * n_features, weights=weights, random_state=seed
        ),
    )


def _genetic(seed: int | None) -> Genetic:
    return Genetic("cfs", population=50, generations=200, crossover=0.6, mutation=0.001, random_state=seed)


def _relief(threshold: float | None) -> Ranking:
    return Ranking("relieff", threshold=threshold, options={"n_neighbors": 10})


#: The algorithms by the paper's acronyms, in its order.
ALGORITHMS: dict[str, Algorithm] = {
    "NFS": Algorithm("no selection", lambda *_: None, wraps=False),
    "FS10": _fortal(10),
    "FS8": _fortal(8),
    "FS6": _fortal(6),
    "FWR": Algorithm("forward wrapper", lambda learner, _, seed: SFS(learner, random_state=seed)),
    "BWR": Algorithm("backward wrapper", lambda learner, _, seed: SBS(learner, random_state=seed)),
    "W10N": Algorithm(
        "random wrapper (10·N)",
        lambda learner, n_features, seed: RandomWrapper(learner, n_iter=10 * n_features, random_state=seed),
    ),
    "WN2": Algorithm(
        "random wrapper (N²)",
        lambda learner, n_features, seed: RandomWrapper(learner, n_iter=n_features**2, random_state=seed),
    ),
    "B-F": Algorithm("best first", lambda *_: BestFirst("cfs", patience=5), wraps=False),
    "Gen": Algorithm("genetic", lambda _, __, seed: _genetic(seed), wraps=False),
    "LVF": Algorithm("LVF", lambda _, __, seed: LVF(random_state=seed), wraps=False),
    "Rel": Algorithm("Relief", lambda *_: _relief(0.01), wraps=False),
    "Foc": Algorithm("Focus", lambda *_: Focus(max_evaluations=FOCUS_SETS), wraps=False),
}

#: The settings of FortalFS, and the name for the best of them in each experiment.
SETTINGS = ("FS10", "FS8", "FS6")
BEST_SETTING = "FFS"

#: The columns of the framework in section 2: what each classifier is here.
FRAMEWORK_LEARNERS: dict[str, Learner] = {
    "decision tree": LEARNERS["C4.5"],
    "k-nearest neighbour": LEARNERS["k-NN"],
    "Gaussian classifier": LEARNERS["naive Bayes"],
    "others (SVM)": Learner("encode | standardize | svm(linear)", "impute"),
}

#: The rows of the framework: FortalFS (10·N) guided by a filter of each kind, and the learner on all columns.
FRAMEWORK: Mapping[str, Algorithm] = {
    "distance (Relief)": _guided(_relief(None), weights=True),
    "information gain": _guided(Ranking("mi"), weights=True),
    "dependency (CFS)": _guided(_genetic(None)),
    "consistency (LVF)": _guided(LVF()),
    "no selection": ALGORITHMS["NFS"],
}
