"""Learn the portfolio of the search: ``python -m benchmarks.portfolio``.

Every candidate recipe is cross-validated on many data sets. The portfolio is the order of the candidates in which the
best of the first ones comes closest to the best of all, over the data sets; of two that help as much the quicker one
comes first. It is written to
``src/tamis/mining/portfolio.txt``. The errors are kept in ``benchmarks/results/portfolio.csv.gz``, and data sets that
are there are not computed again.

The gain is measured without the data set it is measured on: the order learned from the other sets, against the order of
the mean error and against orders at random.
"""

import argparse
import csv
import gzip
import re
import warnings
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import time

import numpy as np
from sklearn.model_selection import train_test_split

import tamis
from tamis.base.errors import TamisError
from tamis.data.dataset import Dataset
from tamis.validation.experiment import Experiment
from tamis.validation.models import as_estimators

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "portfolio.csv.gz"
PORTFOLIO = HERE.parent / "src" / "tamis" / "mining" / "portfolio.txt"

#: The data sets; synthetic ones with a seed.
SETS = (
    *("arcene", "dexter", "dorothea", "madelon", "gisette_surrogate", "colon", "leukemia", "lymphoma", "lung"),
    *("child_leukemia", "colon_mrmr", "lung_mrmr", "leukemia_mrmr", "isolet", "ionosphere", "sonar", "wdbc", "splice"),
    *("spambase", "vehicle", "segment", "heart.c", "hepatitis", "credit.g", "vowel", "waveform5000", "dermatology"),
    *("kr.vs.kp", "diabetes", "madelon-like", "friedman", "xor"),
)

#: Most rows of a data set, folds, and the length of the portfolio.
ROWS, FOLDS, LENGTH = 600, 3, 48

#: The gain of a recipe is divided by this power of its cost.
POWER = 0.5

#: Recipes that are evaluated together.
BATCH = 60

_SIZES = (5, 20, 80, 300, 1500)
_SELECTIONS = (
    *("cc({k})", "relieff({k})", "mi({k})", "ssv({k})", "modl({k})", "mrmr({k})", "rfe({k})"),
    "from_model(extra_trees, k={k})",
)
_SCALED = (
    *("centroid(1.5, {w})", "lda(auto)", "knn(1)", "knn(5)", "nrbf", "nb(gaussian, {w})"),
    *("rms_norm | svm(linear, C=0.1, {w})", "rms_norm | svm(linear, C=10.0, {w})"),
    *("rms_norm | svm(gaussian, C=3.16, sigma=1.0, {w})", "rms_norm | svm(gaussian, C=100.0, sigma=0.464, {w})"),
    *("rms_norm | logistic(l2, C=10.0, {w})", "rms_norm | logistic(l1, C=100.0, {w})"),
    *("convex_net(kernel=gaussian, penalty=1.0, {w})", "convex_net(kernel=cosine, penalty=1.0, {w})"),
)
_UNSCALED = (
    *("forest({w})", "extra_trees({w})", "extra_trees(max_features=0.3, {w})", "boost({w})", "esnb", "nb(states, {w})"),
    *("nb(multinomial, {w})", "tree"),
)


def candidates() -> Iterator[str]:
    """Recipes of all kinds: classifiers on all columns, and two of five behind selections of several sizes."""
    scaled, unscaled = ([text.format(w="class_weight=balanced") for text in texts] for texts in (_SCALED, _UNSCALED))
    yield from (f"standardize | {classifier}" for classifier in scaled)
    yield from unscaled
    number = 0
    for selection in _SELECTIONS:
        for k in _SIZES:
            for classifier in (*scaled, *unscaled):
                number += 1
                if number % 5 in (0, 2):
                    front = "standardize | " if classifier in scaled else ""
                    yield f"{front}{selection.format(k=k)} | {classifier}"
    yield from (f"standardize | contrasts | {classifier}" for classifier in scaled)
    yield from (f"contrasts | {classifier}" for classifier in unscaled)


def few_rows(name: str, seed: int = 0) -> Dataset:
    """A data set, or a stratified sample of its labelled rows."""
    data = tamis.load(name)
    rows = np.arange(data.n_rows)
    if data.split is not None and (data.split == "valid").any():
        rows = np.flatnonzero(np.isin(data.split, ["train", "valid"]))
    classes, counts = np.unique(data.y[rows], return_counts=True)
    rows = rows[np.isin(data.y[rows], classes[counts >= 2 * FOLDS])]
    if rows.size > ROWS:
        rows, _ = train_test_split(rows, train_size=ROWS, stratify=data.y[rows], random_state=seed)
    return data.rows(np.sort(rows))


def errors(data: Dataset, recipes: Sequence[str]) -> dict[str, tuple[float, float]]:
    """The BER of each recipe over folds, and its seconds per fold; recipes that fail or do not fit are left out."""
    found = {}
    experiment = Experiment.of(data, folds=FOLDS, metrics="ber", seed=0)
    for first in range(0, len(recipes), BATCH):
        texts = [t for t in recipes[first : first + BATCH] if _fits(t, data.n_features)]
        for text, outcome in zip(texts, experiment.outcomes(as_estimators(texts)), strict=True):
            if not isinstance(outcome, TamisError):
                found[text] = (
                    float(np.mean([r.metrics["ber"] for r in outcome])),
                    float(np.mean([r.alone_seconds for r in outcome])),
                )
    return found


def _fits(text: str, n_features: int) -> bool:
    sizes = [k for k in _SIZES if f"({k})" in text or f"k={k})" in text]
    return not sizes or sizes[0] < n_features


def read(path: Path = RESULTS) -> dict[str, dict[str, tuple[float, float]]]:
    """The errors and seconds of the recipes, by data set."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    if path.exists():
        with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                found.setdefault(row["data"], {})[row["recipe"]] = (float(row["ber"]), float(row["seconds"]))
    return found


def compute(names: Sequence[str]) -> None:
    """Compute the errors on data sets that are not in the file yet."""
    known = read()
    RESULTS.parent.mkdir(exist_ok=True)
    if not RESULTS.exists():
        with gzip.open(RESULTS, "wt", encoding="utf-8") as file:
            file.write("data,recipe,ber,seconds\n")
    recipes = list(candidates())
    for name in names:
        if name in known:
            continue
        try:
            data = few_rows(name)
        except TamisError as error:
            print(f"{name}: left out ({error})")
            continue
        begin = time()
        found = errors(data, recipes)
        with gzip.open(RESULTS, "at", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([name, text, f"{ber:.5f}", f"{s:.4f}"] for text, (ber, s) in found.items())
        best = min(found, key=lambda text: found[text][0])
        print(f"{name}: {len(found)} recipes in {time() - begin:.0f} s, best {found[best][0]:.3f} {best}", flush=True)


def regrets(known: dict[str, dict[str, tuple[float, float]]]) -> tuple[list[str], np.ndarray]:
    """The recipes, and by how much each is worse than the best on each data set, in units of its spread.

    A recipe that was not possible on a data set is as bad there as the worst.
    """
    recipes = sorted({text for found in known.values() for text in found})
    table = np.full((len(known), len(recipes)), np.nan)
    for i, found in enumerate(known.values()):
        own = np.array([found.get(text, (np.nan, 0.0))[0] for text in recipes])
        best = np.nanmin(own)
        spread = max(np.nanquantile(own, 0.5) - best, 0.01)
        table[i] = np.minimum((own - best) / spread, 1.5)
    return recipes, np.where(np.isnan(table), 1.5, table)


def costs(known: dict[str, dict[str, tuple[float, float]]], recipes: Sequence[str]) -> np.ndarray:
    """The seconds of each recipe as a multiple of the median of its data set, in the geometric mean."""
    logs = np.full((len(known), len(recipes)), np.nan)
    for i, found in enumerate(known.values()):
        own = np.log([max(found[text][1], 1e-4) if text in found else np.nan for text in recipes])
        logs[i] = own - np.nanmedian(own)
    return np.exp(np.nanmean(logs, axis=0))


def ordered(table: np.ndarray, length: int, cost: np.ndarray | None = None) -> list[int]:
    """The columns in the order in which the mean over rows of the least value so far falls fastest.

    The gain of a column is divided by a power of its cost.
    """
    least = np.full(table.shape[0], 1.5)
    weight = 1.0 if cost is None else np.maximum(cost, 0.1) ** POWER
    found: list[int] = []
    for _ in range(min(length, table.shape[1])):
        gain = (least.mean() - np.minimum(least[:, None], table).mean(axis=0)) / weight
        gain[found] = -np.inf
        # Of equal ones the best on average.
        found.append(int(np.lexsort((table.mean(axis=0) * weight, -np.round(gain, 9)))[0]))
        least = np.minimum(least, table[:, found[-1]])
    return found


def gain(table: np.ndarray, length: int, cost: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """The mean regret of the best of the first 1, 2, ... recipes on a data set that had no part in their order."""
    rng = np.random.default_rng(0)
    curves: dict[str, list[np.ndarray]] = {"portfolio": [], "mean error": [], "random": []}
    for out in range(table.shape[0]):
        others = np.delete(table, out, axis=0)
        orders = {"portfolio": ordered(others, length, cost), "mean error": np.argsort(others.mean(axis=0))[:length]}
        for name, order in orders.items():
            curves[name].append(np.minimum.accumulate(table[out, order]))
        draws = [table[out, rng.permutation(table.shape[1])[:length]] for _ in range(200)]
        curves["random"].append(np.mean([np.minimum.accumulate(one) for one in draws], axis=0))
    return {name: np.mean(own, axis=0) for name, own in curves.items()}


def learned(known: dict[str, dict[str, tuple[float, float]]], length: int = LENGTH) -> list[str]:
    """The portfolio that some data sets teach."""
    recipes, table = regrets(known)
    return [recipes[i] for i in ordered(table, length, costs(known, recipes))]


def learned_without(name: str) -> list[str]:
    """The portfolio that the other data sets teach; sets such as colon and colon_mrmr are one."""
    return learned({other: found for other, found in read().items() if _source(other) != _source(name)})


def _source(name: str) -> str:
    return re.split("[-_.]", name)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--length", type=int, default=LENGTH)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    compute(given.sets)
    known = {name: found for name, found in read().items() if name in given.sets}
    recipes, table = regrets(known)
    cost = costs(known, recipes)
    order = [recipes.index(text) for text in learned(known, given.length)]
    curves = gain(table, given.length, cost)
    places = [place for place in (1, 2, 4, 8, 16, 32, 48) if place <= given.length]
    print(f"\nregret of the best of the first k on a set left out ({len(known)} sets, {len(recipes)} recipes)")
    print(f"{'k':<12}" + "".join(f"{place:>8}" for place in places))
    for name, curve in curves.items():
        print(f"{name:<12}" + "".join(f"{curve[place - 1]:>8.3f}" for place in places))
    spent = np.cumsum(cost[order])
    print(f"{'cost':<12}" + "".join(f"{spent[place - 1]:>8.1f}" for place in places) + "  (times the median recipe)")
    date = datetime.now(UTC).date()
    head = [
        "# The portfolio: recipes that a search tries first, the most useful first.",
        f"# Learned on {date} from {len(known)} data sets by: python -m benchmarks.portfolio",
    ]
    PORTFOLIO.write_text("\n".join([*head, *(recipes[i] for i in order)]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
