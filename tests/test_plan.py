"""A plan gives every model what it gets alone, over the whole catalog; and it fits what is shared but once."""

import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import decomposition
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectFdr, SelectFpr, SelectFwe, SelectKBest, SelectPercentile, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from alone import alone, evaluate_all, try_all
from tamis.base.errors import TamisError
from tamis.base.shared_fit import SharedFit, Together, grouped, signature
from tamis.classify import KNN, NRBF, SVM
from tamis.compose.catalog import catalog
from tamis.compose.recipe import parse, to_text
from tamis.data.dataset import Dataset
from tamis.engines.engine import Lost
from tamis.engines.serial import SerialEngine
from tamis.select import FromModel, Ranking, Vote
from tamis.validation.execute import driver as driver_module
from tamis.validation.execute.driver import Driver
from tamis.validation.execute.fold import FoldTask, run_fold
from tamis.validation.execute.preparations import PreparationCache
from tamis.validation.execute.rows import Ledger, Pair, Rows, size_of
from tamis.validation.fold_result import FoldResult
from tamis.validation.folds import StratifiedFolds, stratify_by
from tamis.validation.models import as_estimators
from tamis.validation.numeric_metrics import NumericPredictions
from tamis.validation.plan import plan

#: Recipes by the part that they try; every part of the catalog must be here.
RECIPES = {
    "cc": "cc({2, 5, 9}) | {knn(1), svm}",
    "chi2": "chi2(fraction={0.1, 0.6}) | knn(3)",
    "count": "count({3, 6}) | knn(3)",
    "f": "f(fdr={0.2, 0.6}) | knn(3)",
    "fisher": "fisher({2, 4}, at_least={1, 3}) | nrbf(0.5)",
    "ig": "ig({2, 5}) | knn(1)",
    "mi": "mi({2, 5}, bins={sigma, equal_width}) | knn(1)",
    "modl": "modl({2, 4}) | knn(1)",
    "relief": "relief({2, 5}) | knn(1)",
    "relieff": "relieff({2, 5}, n_neighbors={3, 10}) | knn(1)",
    "s2n": "s2n({1, 7}) | svm(gaussian)",
    "ssv": "ssv({2, 3}) | tree",
    "stump": "stump({2, 3}) | knn(1)",
    "t": "t({2, 5}, welch={true, false}) | knn(2)",
    "variance": "variance({4, 5}) | svm(C={0.1, 1})",
    "bns": "bns({2, 5}) | knn(1)",
    "kl": "kl({2, 5}, smoothing={0.0, 10.0}) | knn(1)",
    "odds": "odds({2, 5}) | knn(1)",
    "pip": "pip({2, 5}) | knn(1)",
    "wf": "wf({2, 5}) | knn(1)",
    "pipp": "pipp({2, 5}) | knn(1)",
    "tfv": "tfv({2, 5}) | knn(1)",
    "ti": "ti({2, 5}) | knn(1)",
    "words": "words({1, 10}) | knn(1)",
    "bigrams": "bigrams({3, 6}, smoothing={0.0, 10.0}) | knn(1)",
    "ssv_tree": "ssv_tree({1, 2, none}) | knn(1)",
    "importance": "importance(logistic, k={1, 4, 9}, values=5) | knn(1)",
    "cluster_tree": "cluster_tree({1, 2, none}, by_class={true, false}) | knn(1)",
    "nb": "cc({2, 5}) | nb({gaussian, states})",
    "snb": "snb({1, 3}, loo={true, false})",
    "esnb": "esnb({1, 3}, bins=equal_frequency, n_bins=3)",
    "convex_net": "cc(4) | convex_net({none, 3, 0.2}, loss={logistic, squared_hinge}, search={pta, sffs})",
    "mdl_histogram": "cc(4) | mdl_histogram({1, 3}, uphill={0, 2})",
    "fr_svm": "cc(6) | fr_svm({3, 5}, n_features={2, 0.5}, C={0.1, 10})",
    "contrasts": "contrasts(n_estimators=10, n_repeats=5, redundant={report, skip}) | knn(1)",
    "mrmr": "mrmr({2, 5, 9}, criterion={mid, miq, fcd, fcq}) | knn(1)",
    "with_probes": "with_probes(cc, fdr={0.1, 0.6}, n_repeats=2) | knn(1)",
    "stability_selection": "stability_selection(cc(3), times=4, threshold={0.6, 0.9}) | knn(1)",
    "vote": "vote(cc({3, 5}), standardize | variance(4), at_least={1, 2}) | knn(1)",
    "repeat": "repeat(cc(2), times={1, 2, 4}) | knn(1)",
    "wrapper": "wrapper(k={1, 3}, cv=3) | knn(1)",
    "sfs": "sfs(k={1, 3}, cv=3) | knn(1)",
    "sbs": "sbs(k={8, 10}, cv=3) | knn(1)",
    "pta": "pta(k={2, 3}, cv=3) | knn(1)",
    "sffs": "sffs(k={1, 3}, cv=3) | knn(1)",
    "sbfs": "sbfs(k={2, 4}, cv=3) | knn(1)",
    "best_first": "best_first({cfs, bic}) | knn({1, 3})",
    "genetic": "genetic(generations=3) | knn(1)",
    "random_wrapper": "random_wrapper(knn(3), n_iter=10) | knn(1)",
    "lvf": "lvf(n_iter=50) | knn(1)",
    "focus": "focus(max_evaluations=200) | knn(1)",
    "fortal": "fortal(knn(1), n_iter=10) | knn(1)",
    "nested_partitions": "nested_partitions(max_evaluations=200) | knn(1)",
    "rfe": "rfe({1, 4, 9}) | svm",
    "simba": "simba({1, 4, 9}, n_passes={1, 2}) | knn(1)",
    "gflip": "gflip({linear, zero_one}) | knn(1)",
    "corona": "corona({1, 4, 9}, columns=1, aggregate={max, mean}) | svm",
    "bin_means": "bin_means({3, 8}, smooth={true, false}, cv=3) | knn(1)",
    "standardize": "standardize | {knn(1), svm, cc(3) | knn(1)}",
    "normalize": "normalize | {knn(1), svm}",
    "rms_norm": "rms_norm | {knn(1), svm}",
    "pca": "pca({1, 3, 0.5}, whiten={true, false}) | knn(3)",
    "lsi": "lsi({1, 3, 5}) | knn(3)",
    "ica": "ica({2, 3}) | knn(3)",
    "random_projection": "random_projection({2, 4}, {gaussian, sparse}) | knn(3)",
    "tfidf": "tfidf({true, false}, idf={smooth, plain}) | knn(3)",
    "impute": "impute | cc({2, 4}) | knn(1)",
    "encode": "encode | cc({2, 4}) | knn(1)",
    "vdm": "vdm({0, 1}, cv={3, none}) | cc({2, 4}) | knn(1)",
    "discretize": "discretize(min_gain={0, 2}) | cc({2, 4}) | knn(1)",
    "knn": "cc(4) | knn({1, 2, 5, auto})",
    "nrbf": "cc(4) | {nrbf({0.1, 1.0, 10.0, auto}), nrbf({1.0, auto}, prototypes=lvq(2))}",
    "lvq": "cc(4) | lvq({1, 3}, {glvq, lvq1})",
    "incnet": "cc(4) | incnet({0.5, 1.0}, max_neurons=5, epochs=1)",
    "fsm": "cc(4) | fsm({3, 6}, function={gaussian, rectangular})",
    "svm": "cc(4) | {svm({linear, gaussian, polynomial, cosine}, C={0.01, 1, 100, inf}, class_weight={balanced, none}),"
    " svm({linear, gaussian}, C={0.01, 1}, multiclass=ovr)}",
    "tree": "cc(4) | tree(prune={none, 1, 3, auto})",
    "c45": "cc(4) | c45({0.05, 0.25, 0.8}, subtree_raising={true, false})",
    "committee": "committee(3, cc({2, 4}) | knn(1))",
    "from_model": "from_model(svm, k={1, 4, 9}) | knn(1)",
    "blend": "blend(cc({2, 4}) | knn(1), svm, weights={[1, 1], [2, 1]})",
    "tuned_first": "tuned_first(svm(gaussian, C={auto, 10}), {cc({2, 4}), ssv(3)})",
    "logistic": "cc(4) | logistic({l2, l1}, C={0.1, 10}, class_weight={balanced, none})",
    "probit": "cc(4) | probit({gaussian, laplace}, variance={0.1, 10}, class_weight={balanced, none})",
    "bayes_logistic": "cc({3, 6}) | bayes_logistic(class_weight={balanced, none})",
    "bayes_net": "cc(4) | bayes_net({0, 2}, draws=10, warmup=10, chains=1, leapfrog=3)",
    "diffusion_tree": "cc({3, 6}) | diffusion_tree(draws=2, warmup=2)",
    "blasso": "{blasso({2, 4}) | knn(1), blasso(alpha={0.1, 0.4}), blasso(k=3, loss=hinge)}",
    "rlsc": "cc(4) | {rlsc({gaussian, linear, polynomial}, penalty={0.01, 1.0, auto}, class_weight={balanced, none}),"
    " rlsc(sigma={auto, 2.0}), rlsc(penalty={0.1, auto}, n_estimators=3, max_samples=0.5)}",
    "mlp": "cc(4) | mlp({2, 3}, alpha={1.0, 10.0})",
    "lda": "cc({3, 6}) | lda({auto, 0.1, none})",
    "centroid": "cc(6) | centroid({0, 0.5, 2})",
    "forest": "cc(4) | forest(5, min_samples_leaf={1, 3})",
    "extra_trees": "cc(4) | extra_trees(5, max_features={sqrt, 1.0})",
    "boost": "cc(4) | boost(5, min_samples_leaf=3, learning_rate={0.1, 0.3}, library=lightgbm)",
}

#: Recipes for numbers, by the part that they try; those of words that serve classes too are tried again.
NUMBERS = {
    "bayes_net": "cc(4) | bayes_net({0, 2}, draws=10, warmup=10, chains=1, leapfrog=3)",
    "blasso": "{blasso({2, 4}) | ridge(1.0), blasso(alpha={0.1, 0.4}), blasso}",
    "spearman": "spearman({2, 5}) | ridge(1.0)",
    "rrelieff": "rrelieff({2, 5}, n_neighbors={3, 10}) | ridge(1.0)",
    "line_bins": "line_bins({5, 8}, output={value, slope}, cv=3) | ridge(1.0)",
    "bin_means": "bin_means({3, 8}, smooth={true, false}, cv=3) | ridge(1.0)",
    "discretize": "discretize({optimal, sigma}, min_rows={3, 8}) | ridge(1.0)",
    "ridge": "standardize | cc({3, 6}) | ridge({0.1, 1.0, 10.0})",
    "mlp": "standardize | cc(4) | mlp({2, 3}, alpha={1.0, 10.0})",
    "lasso": "cc(6) | lasso({0.01, 0.1})",
    "elastic_net": "cc(6) | elastic_net({0.01, 0.1}, l1_ratio={0.1, 0.9})",
    "svr": "standardize | cc(4) | svr({linear, gaussian}, C={0.1, 1.0})",
    "cc": "cc({2, 5, 9}) | {knn({1, 3}), ridge(1.0)}",
    "f": "f(fdr={0.2, 0.6}) | ridge(1.0)",
    "mi": "mi({2, 5}) | ridge(1.0)",
    "mrmr": "mrmr({2, 4}, criterion=fcd) | ridge(1.0)",
    "stepwise": "stepwise({0.05, 0.2}, p_remove=0.3) | ridge(1.0)",
    "sfs": "sfs(ridge(1.0), k={2, 3}) | ridge(1.0)",
    "rfe": "rfe({2, 4}) | ridge(1.0)",
    "tree": "cc(4) | tree",
    "forest": "cc(4) | forest(5, min_samples_leaf={1, 3})",
    "extra_trees": "cc(4) | extra_trees(5, max_features={sqrt, 1.0})",
    "boost": "cc(4) | boost(5, min_samples_leaf=3, library=lightgbm)",
    "committee": "committee(3, cc({2, 4}) | ridge(1.0))",
    "blend": "blend(cc(2) | ridge(1.0), knn(3), weights=[2, {1, 3}])",
}

#: Sums in another order: the only parts whose evidence may differ from that of a fit by itself, and by how much.
ROUNDING = {
    "svm": 1e-6,
    "rlsc": 1e-8,
    "nrbf": 1e-9,
    "pca": 1e-9,
    "lsi": 1e-9,
    "ridge": 1e-9,
    "svr": 1e-6,
    "lasso": 1e-9,
}


def test_every_part_of_the_catalog_is_tried() -> None:
    assert {*RECIPES, *NUMBERS} == set(catalog())


def problem(seed: int, n_classes: int = 2, sparse: bool = False, rows: int = 36, columns: int = 11):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % n_classes)
    X = rng.integers(0, 5, size=(rows, columns)) * (rng.random((rows, columns)) < 0.6) + 0.25 * rng.random((rows, 1))
    X[:, 3] += y
    X[:, 7] += y % 2
    X[:, 5] = X[:, 4]
    X[:, 6] = 1.0
    return (sp.csr_matrix(X) if sparse else X), y


def built(texts):
    return as_estimators(list(texts))


def assert_same(found: FoldResult, expected: FoldResult, recipe: str) -> None:
    slack = max((size for part, size in ROUNDING.items() if part in recipe), default=0.0)
    np.testing.assert_array_equal(found.selected, expected.selected)
    if isinstance(expected.predictions, NumericPredictions):
        np.testing.assert_allclose(found.predictions.labels, expected.predictions.labels, rtol=max(slack, 1e-12))
        return
    for one, other in (
        (found.predictions.scores, expected.predictions.scores),
        (found.predictions.probabilities, expected.predictions.probabilities),
    ):
        assert (one is None) == (other is None)
        if one is not None and slack:
            np.testing.assert_allclose(one, other, rtol=slack, atol=slack)
        elif one is not None:
            np.testing.assert_array_equal(one, other)
    if slack and expected.predictions.scores is not None:
        # A row on the border may fall to either side.
        scores = expected.predictions.scores
        margin = np.abs(scores) if scores.ndim == 1 else np.abs(np.diff(np.sort(scores, axis=1)[:, -2:], axis=1)[:, 0])
        sure = margin > 10 * slack
        np.testing.assert_array_equal(found.predictions.labels[sure], expected.predictions.labels[sure])
    else:
        np.testing.assert_array_equal(found.predictions.labels, expected.predictions.labels)
        assert found.metrics == expected.metrics or any(np.isnan(v) for v in found.metrics.values())
    assert (found.repeat, found.fold, found.n_train, found.n_features) == (
        expected.repeat,
        expected.fold,
        expected.n_train,
        expected.n_features,
    )


def assert_as_alone(models, X, y, folds: int = 2, **options) -> None:
    splits = StratifiedFolds(folds).splits(stratify_by(y, Dataset.of(X, y).task), seed=1)
    for model, outcome in zip(models, try_all(models, Dataset.of(X, y), splits, seed=5, **options), strict=True):
        for number, split in enumerate(splits):
            expected = alone(model, X, y, split, seed=5)
            assert not isinstance(outcome, TamisError), str(outcome)
            assert_same(outcome[number], expected, to_text(model))
            assert set(outcome[number].warnings) == set(expected.warnings), to_text(model)


@pytest.mark.parametrize(
    ("part", "sparse"),
    [
        (part, sparse)
        for part in RECIPES
        for sparse in (False, True)
        if not (sparse and part in ("impute", "encode", "lda"))
    ],
)
def test_every_part_answers_in_a_plan_as_alone(part: str, sparse: bool) -> None:
    X, y = problem(2, n_classes=3 if part in ("svm", "knn", "cc", "rfe") else 2, sparse=sparse)
    assert_as_alone(built([RECIPES[part]]), X, y)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("part", NUMBERS)
def test_every_part_of_numbers_answers_in_a_plan_as_alone(part: str, sparse: bool) -> None:
    X, y = problem(2, sparse=sparse)
    target = 3.0 * y + np.asarray(X[:, [3]].sum(axis=1)).ravel() + np.random.default_rng(0).normal(size=y.size)
    assert_as_alone(as_estimators([NUMBERS[part]], Dataset.of(X, target)), X, target)


@given(
    st.integers(0, 10_000),
    st.integers(2, 3),
    st.booleans(),
    st.lists(st.sampled_from(sorted(set(RECIPES) - {"impute", "encode", "s2n", "t", "lda"})), min_size=2, max_size=4),
    st.sampled_from([None, 1.0, 5000.0]),
)
@settings(max_examples=12)
def test_any_models_together_answer_as_alone(seed, n_classes, sparse, parts, memory) -> None:
    X, y = problem(seed, n_classes, sparse)
    rng = np.random.default_rng(seed)
    models = built(RECIPES[part] for part in parts)
    some = [models[i] for i in rng.permutation(len(models))[:8]]
    assert_as_alone(some, X, y, memory=memory)


def test_models_of_other_makes_are_shared_too() -> None:
    X, y = problem(0)
    models = [
        make_pipeline(StandardScaler(), SelectKBest(k=k), last)
        for k in (2, 4)
        for last in (GaussianNB(), ExtraTreesClassifier(3))
    ]
    models += [make_pipeline(decomposition.PCA(k), KNN(1)) for k in (1, 2)]
    assert_as_alone(models, X, y)
    assert plan(models[:4]).n_fits() == 1 + 1 + 4


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_rows_that_were_narrowed_first_are_the_same_to_the_last_bit(sparse: bool) -> None:
    X, y = problem(1, sparse=sparse, columns=60)
    lasts = [LogisticRegression(), LinearSVC(random_state=0)] + ([] if sparse else [GaussianNB()])
    assert_as_alone([make_pipeline(Ranking(k=k), last) for k in (2, 5, 9) for last in lasts], X, y)


def test_filters_of_scikit_learn_score_once_for_every_size() -> None:
    X, y = problem(0)
    calls = []

    def counted(X, y):
        calls.append(1)
        return chi2(X, y)

    filters = [SelectKBest(counted, k=k) for k in (1, 4, 8, "all", 50)]
    filters += [SelectPercentile(counted, percentile=p) for p in (10, 60)]
    filters += [kind(counted, alpha=a) for kind in (SelectFpr, SelectFdr, SelectFwe) for a in (0.05, 0.9)]
    models = [make_pipeline(one, KNN(1)) for one in filters]
    outcomes = try_all(models, Dataset.of(X, y), StratifiedFolds(2).splits(y))
    assert len(calls) == 2 * 5
    assert_as_alone([m for m, o in zip(models, outcomes, strict=True) if not isinstance(o, TamisError)], X, y)


def test_tables_asked_for_stay_tables() -> None:
    X, y = problem(0, columns=30)
    seen = []

    class Watching(GaussianNB):
        def fit(self, X, y):
            seen.append(type(X).__name__)
            return super().fit(X, y)

    models = [make_pipeline(Ranking(k=k).set_output(transform="pandas"), Watching()) for k in (2, 4)]
    evaluate_all(models, Dataset.of(X, y), StratifiedFolds(2).splits(y))
    assert set(seen) == {"DataFrame"}


class Counted(StandardScaler):
    """Counts how often any of its kind is fitted."""

    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        Counted.fits += 1
        return super().fit(X, y, sample_weight)


class CountedRanking(Ranking):
    """Counts how often any of its kind scores."""

    scored = 0

    def _score(self, X, y, weight):
        CountedRanking.scored += 1
        return super()._score(X, y, weight)


@pytest.mark.parametrize("memory", [None, 1.0])
def test_what_is_shared_is_fitted_once_a_fold(memory) -> None:
    X, y = problem(0)
    Counted.fits = CountedRanking.scored = 0
    models = [
        make_pipeline(Counted(), CountedRanking("cc", k=k), last)
        for k in range(1, 9)
        for last in (KNN(1), KNN(3), SVM())
    ]
    evaluate_all(models, Dataset.of(X, y), StratifiedFolds(3).splits(y), memory=memory)
    assert (Counted.fits, CountedRanking.scored) == (3, 3)


class Slow(StandardScaler):
    """Takes a tenth of a second to fit."""

    def fit(self, X, y=None, sample_weight=None):
        time.sleep(0.1)
        return super().fit(X, y, sample_weight)


def test_shared_seconds_are_divided_and_those_of_a_model_alone_are_not() -> None:
    X, y = problem(0)
    splits = StratifiedFolds(2).splits(y)
    together = evaluate_all([make_pipeline(Slow(), KNN(k)) for k in (1, 3, 5, 7, 9)], Dataset.of(X, y), splits)
    alone = evaluate_all([make_pipeline(Slow(), KNN(1))], Dataset.of(X, y), splits)
    for found in (fold for model in together for fold in model):
        assert 0.1 / 5 <= found.fit_seconds < 0.1 < found.alone_seconds
    for found in alone[0]:
        assert found.alone_seconds == pytest.approx(found.fit_seconds + found.predict_seconds)


class CountedTrees(ExtraTreesClassifier):
    """Counts how often any of its kind is fitted."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        CountedTrees.fits += 1
        return super().fit(X, y, sample_weight)


def test_what_one_fold_task_prepared_serves_the_next_on_the_same_rows() -> None:
    data = Dataset.of(*problem(0))
    splits = StratifiedFolds(2).splits(data.y)
    weighing = FromModel(CountedTrees(20))

    def evaluated(sizes, split, cache, *before):
        models = [make_pipeline(*before, clone(weighing).set_params(k=k), KNN(1)) for k in sizes]
        task = FoldTask(plan(models), frozenset(range(len(models))), split, None, 0)
        return [one for _, one in sorted(run_fold(task, data, cache).items())]

    known = PreparationCache()
    first = evaluated([2, 4], splits[0], known)
    fits = CountedTrees.fits
    again = evaluated([4, 3], splits[0], known)
    assert CountedTrees.fits == fits
    assert again[0].selected.tolist() == first[1].selected.tolist()
    assert np.array_equal(again[0].predictions.labels, first[1].predictions.labels)
    # Though it cost nothing this time, alone it would.
    assert again[0].fit_seconds < again[0].alone_seconds
    # Other rows, or other steps before it, are another matter.
    evaluated([4], splits[1], known)
    evaluated([4], splits[0], known, StandardScaler())
    assert CountedTrees.fits == fits + 2
    fresh = evaluated([4, 3], splits[0], None)
    assert CountedTrees.fits == fits + 3
    for one, other in zip(again, fresh, strict=True):
        assert one.selected.tolist() == other.selected.tolist()
        assert np.array_equal(one.predictions.labels, other.predictions.labels)


def test_the_fits_that_a_plan_takes() -> None:
    def fits(text):
        return plan(built([text])).n_fits()

    assert fits("cc({5, 50, 500}) | svm(C={1, 10, 100})") == 1 + 3
    assert fits("standardize | {cc, f} | knn({1, 3, 5})") == 1 + 2 + 2
    assert fits("{cc(5) | knn(1), knn(1)}") == 3
    merged = plan(built(["standardize | cc({5, 9}) | {knn({1, 3}), svm}"]))
    assert [len(unit) for unit in merged.units()] == [2, 1, 2, 1]
    assert sorted(i for unit in merged.units() for i in unit) == list(range(6))


def test_workers_do_not_change_a_bit() -> None:
    X, y = problem(3, n_classes=3)
    models = built([RECIPES["svm"], RECIPES["cc"], RECIPES["pca"], RECIPES["vote"]])[:40]
    splits = StratifiedFolds(2).splits(y)
    found = [evaluate_all(models, Dataset.of(X, y), splits, engine=engine) for engine in ("serial", "local(3)")]
    for a, b in zip(*([r for own in results for r in own] for results in found), strict=True):
        np.testing.assert_array_equal(a.predictions.scores, b.predictions.scores)
        assert a.metrics == b.metrics or any(np.isnan(v) for v in a.metrics.values())
        np.testing.assert_array_equal(a.selected, b.selected)


class Deadly(SerialEngine):
    """Its worker dies of the first task, whenever that is tried."""

    def run(self, work, tasks, **options):
        for number, found in super().run(work, tasks, **options):
            yield number, Lost(number, 4) if number == 0 else found


def test_models_whose_task_ends_every_worker_have_an_error(monkeypatch) -> None:
    monkeypatch.setattr(driver_module, "open_engine", lambda name, data, **options: Deadly(data))
    data = Dataset.of(*problem(0))
    with Driver(data) as driver:
        (outcome,) = driver.outcomes(built(["knn(1)"]), StratifiedFolds(2).splits(data.y))
    assert str(outcome) == "task 1: the worker died each of the 4 times that it was tried"


def test_a_model_that_fails_does_not_stop_the_others() -> None:
    X, y = problem(0)
    X = X * 1e20
    models = built(["cc({2, 5}) | {knn(1), svm(polynomial, sigma=1, degree=20), tree}"])
    outcomes = try_all(models, Dataset.of(X, y), StratifiedFolds(2).splits(y))
    for model, outcome in zip(models, outcomes, strict=True):
        assert isinstance(outcome, TamisError) == ("polynomial" in to_text(model)), outcome
    with pytest.raises(TamisError, match=r"repeat 1, fold 1: .*overflow"):
        evaluate_all(models, Dataset.of(X, y), StratifiedFolds(2).splits(y))


def test_one_bad_setting_leaves_the_rest_of_its_sweep_alone() -> None:
    X, y = problem(0)
    good, bad = Vote([Ranking(k=2), Ranking(k=3)]), Vote([Ranking(k=2)], at_least=2)
    outcomes = try_all([make_pipeline(v, KNN(1)) for v in (good, bad)], Dataset.of(X, y), StratifiedFolds(2).splits(y))
    assert not isinstance(outcomes[0], TamisError)
    assert isinstance(outcomes[1], TamisError)


def test_a_warning_goes_to_the_models_that_it_is_about() -> None:
    X, y = problem(0)
    models = built(["cc(threshold={0.0, 5.0}) | knn(1)"])
    quiet, loud = evaluate_all(models, Dataset.of(X, y), StratifiedFolds(2).splits(y))
    assert not quiet[0].warnings
    assert "meet the cut" in loud[0].warnings[0][1]


def test_progress_counts_results() -> None:
    X, y = problem(0)
    calls = []
    models = built(["cc({2, 5}) | {knn(1), svm}"])
    evaluate_all(models, Dataset.of(X, y), StratifiedFolds(3).splits(y), progress=lambda *c: calls.append(c))
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert {done for done, _ in calls} == set(range(1, 13))
    assert calls[-1] == (12, 12)


def test_memory_is_refused_when_there_is_none() -> None:
    X, y = problem(0)
    with pytest.raises(TamisError, match="memory must be a number of bytes above zero; got 0"):
        try_all(built(["knn"]), Dataset.of(X, y), StratifiedFolds(2).splits(y), memory=0)


def chain_of_rows(depth: int, ledger: Ledger, made: list[int]) -> list[Rows]:
    def maker(level):
        def make(before):
            made.append(level)
            return Pair(np.zeros(100), np.zeros(0)) if before is None else Pair(before.train + 1, before.test)

        return make

    found: list[Rows] = []
    for level in range(depth):
        found.append(Rows(maker(level), found[-1] if found else None, ledger))
        found[-1].get()
    return found


def test_rows_are_held_within_the_limit_and_made_again() -> None:
    made: list[int] = []
    ledger = Ledger(2 * 800.0)
    rows = chain_of_rows(5, ledger, made)
    assert made == [0, 1, 2, 3, 4]
    assert ledger.peak == 2 * 800
    assert rows[1].get().train[0] == 1.0
    assert made == [0, 1, 2, 3, 4, 0, 1]
    assert ledger.peak <= 3 * 800


def test_without_a_limit_nothing_is_made_twice() -> None:
    made: list[int] = []
    rows = chain_of_rows(4, Ledger(np.inf), made)
    rows[0].get(), rows[3].get()
    assert made == [0, 1, 2, 3]


def test_sizes_of_what_rows_may_be() -> None:
    import pandas as pd
    import polars as pl

    X = np.ones((10, 3))
    assert size_of(X) == 240
    assert size_of(sp.csr_matrix(X)) == 240 + 4 * 30 + 4 * 11
    assert size_of(pd.DataFrame(X)) >= 240
    assert size_of(pl.DataFrame(X)) >= 240
    assert size_of([[1.0]]) == 0


@given(st.integers(0, 1000), st.booleans())
@settings(max_examples=10)
def test_a_sweep_is_what_each_is_alone(seed, sparse) -> None:
    X, y = problem(seed, sparse=sparse)
    for ones in (
        [KNN(k) for k in (1, 3, 50)],
        [NRBF(s) for s in (1e-9, 0.1, 9.0)],
        [SVM(C=c) for c in (0.01, 1.0, 50.0)],
    ):
        for own, fitted in zip(ones, Together([one.__class__(**one.get_params()) for one in ones], X, y), strict=True):
            alone_said = own.fit(X, y)._decision(X)
            np.testing.assert_allclose(fitted._decision(X), alone_said, rtol=1e-6, atol=1e-7)


def test_signatures_tell_apart_what_is_fitted_differently() -> None:
    assert signature(Ranking(k=5)) == signature(Ranking(k=5))
    assert signature(Ranking(k=5)) != signature(Ranking("f", k=5))
    assert signature(SVM(C=1)) != signature(SVM(C=True))
    assert signature(KNN(5).set_output(transform="default") if hasattr(KNN, "set_output") else KNN(5)) is not None
    a, b = Vote([Ranking(k=2), Ranking("f", k=2)]), Vote([Ranking("f", k=2), Ranking(k=2)])
    assert signature(a) != signature(b)
    assert signature(a) == signature(Vote([Ranking(k=2), Ranking("f", k=2)]))
    priors = [GaussianNB(priors=np.array(p)) for p in ([0.5, 0.5], [0.4, 0.6], [0.5, 0.5])]
    assert [g.members for g in grouped(priors)] == [((0, 2),), ((1,),)]


def test_every_swept_parameter_exists() -> None:
    for part in catalog().values():
        made = part.make()
        if isinstance(made, SharedFit):
            assert made.shared_parameters
            assert set(made.shared_parameters) <= set(made.get_params(deep=False)), part.name


def test_open_recipes_are_named_in_full() -> None:
    texts = [to_text(model) for model in built(["cc({2, 4}) | {knn({1, 3}), standardize | svm}"])]
    assert texts == [
        *("cc(2) | knn(1)", "cc(2) | knn(3)", "cc(2) | standardize | svm"),
        *("cc(4) | knn(1)", "cc(4) | knn(3)", "cc(4) | standardize | svm"),
    ]
    assert str(parse("cc({2, 4}) | {knn(1), standardize | svm}")) == "cc({2, 4}) | {knn(1), standardize | svm}"
    with pytest.raises(TamisError, match="knn is a classifier: it can only come last"):
        parse("{knn, cc(5)} | svm")
    with warnings.catch_warnings(), pytest.raises(TamisError, match="stands for 2 recipes"):
        parse("cc(5) | {knn, svm}").build()
