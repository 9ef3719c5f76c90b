"""Every part of the catalog passes the conformance checks, and the catalog has found them all."""

import inspect

import pytest

from sampled import FEW_DRAWS
from tamis.classify import KNN, SVM, ExtraTrees
from tamis.compose.catalog import entries
from tamis.regress import KNNRegressor, Ridge
from tamis.select import RFE, SSVTreeSelector
from tamis.testing import checks

#: A new part changes this table: that it was discovered is part of what is tested.
EXPECTED = {
    "score": [
        "bns",
        "cc",
        "chi2",
        "count",
        "f",
        "fisher",
        "ig",
        "kl",
        "mi",
        "modl",
        "odds",
        "pip",
        "pipp",
        "relief",
        "relieff",
        "rrelieff",
        "s2n",
        "spearman",
        "ssv",
        "stump",
        "t",
        "tfv",
        "ti",
        "variance",
        "wf",
    ],
    "selector": [
        "best_first",
        "cluster_tree",
        "contrasts",
        "corona",
        "focus",
        "fortal",
        "from_model",
        "genetic",
        "gflip",
        "importance",
        "lvf",
        "mrmr",
        "nested_partitions",
        "pta",
        "random_wrapper",
        "repeat",
        "rfe",
        "sbfs",
        "sbs",
        "sffs",
        "sfs",
        "simba",
        "ssv_tree",
        "stability_selection",
        "stepwise",
        "vote",
        "with_probes",
        "wrapper",
    ],
    "transform": [
        "bigrams",
        "bin_means",
        "discretize",
        "encode",
        "ica",
        "impute",
        "line_bins",
        "lsi",
        "normalize",
        "pca",
        "random_projection",
        "rms_norm",
        "standardize",
        "tfidf",
        "vdm",
        "words",
    ],
    "classifier": [
        "bayes_logistic",
        "bayes_net",
        "blasso",
        "blend",
        "boost",
        "c45",
        "centroid",
        "committee",
        "convex_net",
        "diffusion_tree",
        "esnb",
        "extra_trees",
        "forest",
        "fr_svm",
        "fsm",
        "incnet",
        "knn",
        "lda",
        "logistic",
        "lvq",
        "mdl_histogram",
        "mlp",
        "nb",
        "nrbf",
        "probit",
        "rlsc",
        "snb",
        "svm",
        "tree",
        "tuned_first",
    ],
    "regressor": [
        "bayes_net",
        "blasso",
        "blend",
        "boost",
        "committee",
        "elastic_net",
        "extra_trees",
        "forest",
        "knn",
        "lasso",
        "mlp",
        "ridge",
        "svr",
        "tree",
    ],
}

#: Every part by its kind and name: a word may stand for a classifier and for a regressor.
FOUND = {(part.kind, part.name): part for part in entries()}

#: Parts beside their defaults, where a parameter takes the code along another way.
VARIANTS = [
    ("cc", {"classes": "ordered"}),
    ("chi2", {"of": "presence"}),
    ("kl", {"k": 3, "smoothing": 0.0}),
    ("pipp", {"k": 3, "class_b": 1.0, "pooled_b": 2.0}),
    ("t", {"welch": True}),
    ("mi", {"k": 3, "bins": "equal_frequency"}),
    ("mi", {"k": 3, "bins": "modl"}),
    ("modl", {"k": 3}),
    ("ig", {"k": 3, "of": "states"}),
    ("relief", {"metric": "euclidean"}),
    ("relieff", {"n_neighbors": 3, "metric": "euclidean"}),
    ("rrelieff", {"n_neighbors": 3, "sigma": 2.0, "metric": "euclidean"}),
    ("spearman", {"fdr": 0.5}),
    ("f", {"fdr": 0.5}),
    ("fisher", {"fraction": 0.4}),
    ("svm", {"kernel": "gaussian"}),
    ("svm", {"class_weight": "balanced", "ridge": 1.0}),
    ("svm", {"multiclass": "ovr", "class_weight": "balanced"}),
    ("knn", {"n_neighbors": "auto"}),
    ("svm", {"kernel": "gaussian", "sigma": "classes"}),
    ("knn", {"metric": "canberra"}),
    ("nrbf", {"sigma": 1.0}),
    ("nb", {"distribution": "bernoulli"}),
    ("nb", {"distribution": "multinomial", "class_weight": "balanced"}),
    ("nb", {"distribution": "poisson"}),
    ("nb", {"distribution": "states"}),
    ("snb", {"k": 2, "loo": True, "bins": "equal_frequency", "n_bins": 4}),
    ("esnb", {"bins": "equal_frequency", "n_bins": 4, "average": True}),
    ("esnb", {"k": 2, "bins": "auto", "threshold": 0.5}),
    ("convex_net", {"sparsity": 4, "search": "sfs", "kernel": "gaussian"}),
    ("convex_net", {"sparsity": 4, "search": "pta", "loss": "exponential", "low": 0.0}),
    ("convex_net", {"shape": "gram", "kernel": "gaussian", "low": -1.0, "high": 1.0}),
    ("simba", {"k": 3, "utility": "sigmoid", "n_starts": 2}),
    ("simba", {"k": 3, "n_passes": 2}),
    ("gflip", {"utility": "sigmoid", "n_starts": 2}),
    ("gflip", {"utility": "zero_one"}),
    ("lvq", {"n_prototypes": 1, "method": "lvq1"}),
    ("lvq", {"method": "olvq1", "init": "rows"}),
    ("lvq", {"method": "lvq21", "window": 0.3}),
    ("lvq", {"method": "lvq3", "max_iter": 10}),
    ("incnet", {"filter": "diagonal", "noise": 0.1}),
    ("incnet", {"function": "biradial", "filter": "neuron", "merge": 0.0}),
    ("fsm", {"function": "triangular", "combine": "strongest"}),
    ("fsm", {"function": "rectangular", "min_samples": 1}),
    ("fsm", {"function": "biradial", "max_nodes": 4}),
    ("mdl_histogram", {"ahead": 1, "uphill": 0}),
    ("mdl_histogram", {"alpha": 0.0, "max_depth": 2}),
    ("ssv", {"k": 3}),
    ("ssv_tree", {"criterion": "balanced_error", "k": 2}),
    ("c45", {"prune": False}),
    ("c45", {"confidence": 0.6, "min_samples_leaf": 1, "subtree_raising": False}),
    ("tree", {"prune": None}),
    ("tree", {"criterion": "balanced_error", "prune": 1.0}),
    ("bayes_logistic", {"method": "hmc", "draws": 20, "warmup": 20, "chains": 1, "leapfrog": 10}),
    ("discretize", {"min_gain": 1, "max_bins": 3}),
    ("discretize", {"class_weight": "balanced"}),
    ("discretize", {"by": "modl"}),
    ("discretize", {"by": "chimerge"}),
    ("discretize", {"by": "optimal", "loss": "absolute", "centre": "median", "max_rows": 60, "min_rows": 1}),
    ("discretize", {"by": "optimal", "min_gain": 0.5, "max_bins": 3}),
    ("bin_means", {"min_rows": 5, "smooth": True}),
    ("bin_means", {"min_rows": 5, "samples": 3, "max_bins": 3}),
    ("bin_means", {"min_rows": 2, "min_gain": 0.5, "cv": None}),
    ("bin_means", {"min_rows": 5, "output": "ordered"}),
    ("bin_means", {"min_rows": 5, "output": "mode"}),
    ("line_bins", {"min_rows": 5, "max_bins": 3}),
    ("line_bins", {"min_rows": 5, "output": "slope", "min_gain": 0.5, "cv": None}),
    ("discretize", {"by": "sigma"}),
    ("discretize", {"by": "sigma", "n_bins": 2}),
    ("discretize", {"by": "equal_width"}),
    ("discretize", {"by": "equal_frequency", "n_bins": 3}),
    ("lsi", {"n_components": 2}),
    ("ica", {"n_components": 2, "fun": "cube"}),
    ("random_projection", {"n_components": 3, "distribution": "sparse"}),
    ("vdm", {"smoothing": 0.0, "cv": None}),
    ("tfidf", {"sublinear": True, "idf": "plain", "norm": None}),
    ("committee", {"cv": 3, "estimator": KNN(), "how": "average"}),
    ("wrapper", {"k": 3, "extend": False}),
    ("nested_partitions", {"sampling_rate": 0.5, "draw": "coin", "keep_best": False, "n_sets": 5}),
    ("nested_partitions", {"two_stage": True, "delta": 0.05, "psi": 0.75}),
    ("mrmr", {"k": 3, "criterion": "miq", "bins": "equal_frequency", "n_bins": 4}),
    ("mrmr", {"k": 3, "criterion": "fcq"}),
    ("mrmr", {"k": 2, "criterion": "fcd", "candidates": 4}),
    ("importance", {"estimator": SVM(), "k": 3, "values": None, "eliminate": False}),
    ("importance", {"estimator": KNN(3), "k": 3, "values": 5, "rows": 20, "step": 1}),
    ("stepwise", {"p_enter": 0.3, "p_remove": 0.5, "k": 3}),
    ("cluster_tree", {"k": 3, "by_class": True, "group_size": 1}),
    ("cluster_tree", {"k": 2, "standardize": False, "max_rows": 20, "at_least": 2}),
    ("fr_svm", {"n_components": None, "n_features": None}),
    ("fr_svm", {"n_components": 0.9, "n_features": 0.5, "ranking": "linear"}),
    ("fr_svm", {"n_components": 6, "n_features": 3, "kernel": "linear", "class_weight": "balanced"}),
    ("fr_svm", {"n_components": 6, "kernel": "polynomial", "coef0": 1.0, "C": "auto"}),
    ("contrasts", {"engine": "forest", "n_estimators": 5, "own": True, "rounds": 1}),
    ("contrasts", {"engine": "lightgbm", "n_estimators": 20, "rounds": 1}),
    ("with_probes", {"estimator": RFE(2), "fdr": 0.4, "n_repeats": 2}),
    ("stability_selection", {"estimator": SSVTreeSelector(2), "times": 3, "max_false": 3.0, "bound": "unimodal"}),
    ("rfe", {"k": 3, "step": 1, "class_weight": "balanced"}),
    ("corona", {"k": 3, "columns": 1, "aggregate": "mean", "step": 0.3, "class_weight": "balanced"}),
    ("sfs", {"k": 3, "estimator": KNN(3)}),
    ("sbs", {"k": 3, "cv": 3}),
    ("from_model", {"estimator": SVM(), "k": 3}),
    ("blend", {"estimators": [KNN(3), SVM()], "weights": [2, 1]}),
    ("tuned_first", {"estimator": KNN("auto"), "selector": RFE(3)}),
    ("logistic", {"penalty": "l1"}),
    ("logistic", {"C": 100.0, "class_weight": "balanced"}),
    ("bayes_logistic", {"prior_shape": 1.0, "prior_precision": 2.0}),
    ("bayes_logistic", {"class_weight": "balanced"}),
    ("blasso", {"k": 3}),
    ("blasso", {"loss": "hinge", "alpha": 0.1}),
    ("blasso", {"loss": "squared", "stop": "cv", "step": 0.02}),
    ("probit", {"prior": "laplace"}),
    ("probit", {"variance": 100.0, "class_weight": "balanced"}),
    ("rlsc", {"kernel": "linear"}),
    ("rlsc", {"sigma": "auto", "class_weight": "balanced"}),
    ("rlsc", {"kernel": "polynomial", "degree": 2, "penalty": 0.01}),
    ("rlsc", {"n_estimators": 5, "max_samples": 0.4}),
    ("mlp", {"hidden_layer_sizes": [4, 3], "alpha": 3.0, "class_weight": "balanced"}),
    ("svm", {"kernel": "cosine", "degree": 3, "coef0": 1.0, "multiclass": "ovr", "intercept": False}),
    ("lda", {"shrinkage": 0.1}),
    ("lda", {"shrinkage": None}),
    ("centroid", {"shrink_threshold": 0.5, "class_weight": "balanced"}),
    ("forest", {"n_estimators": 20, "max_features": 0.5, "class_weight": "balanced"}),
    ("extra_trees", {"n_estimators": 20, "max_features": 0.5, "class_weight": "balanced"}),
    ("boost", {"n_estimators": 20, "library": "lightgbm"}),
    ("boost", {"n_estimators": 20, "class_weight": "balanced"}),
]

#: The same for regressors.
NUMERIC_VARIANTS = [
    ("blasso", {"k": 3}),
    ("blasso", {"loss": "huber", "step": 0.02}),
    ("blasso", {"alpha": 0.1, "l1_ratio": 0.5}),
    ("blasso", {"stop": "cv"}),
    ("blend", {"estimators": [KNNRegressor(3), Ridge(1.0)], "weights": [2, 1]}),
    ("boost", {"n_estimators": 20, "library": "lightgbm"}),
    ("committee", {"cv": 3, "estimator": KNNRegressor(3)}),
    ("elastic_net", {"alpha": 0.1, "l1_ratio": 0.1}),
    ("extra_trees", {"n_estimators": 20, "max_features": "sqrt"}),
    ("forest", {"n_estimators": 20, "max_features": 1.0}),
    ("knn", {"n_neighbors": "auto"}),
    ("knn", {"metric": "canberra"}),
    ("lasso", {"alpha": 0.1}),
    ("mlp", {"hidden_layer_sizes": [4, 3], "activation": "relu"}),
    ("ridge", {"alpha": 1.0}),
    ("ridge", {"alpha": 0.0}),
    ("svr", {"kernel": "gaussian", "C": 10.0}),
    ("svr", {"kernel": "exponential", "epsilon": 0.0}),
    ("tree", {"prune": None, "max_depth": 3}),
    ("tree", {"prune": 2.0}),
]


def test_the_catalog_has_found_every_part():
    found = {}
    for part in entries():
        found.setdefault(part.kind, []).append(part.name)
    assert {kind: sorted(names) for kind, names in found.items()} == EXPECTED


def test_fit_shows_sample_weights_where_they_count():
    parts = [part for part in entries() if "sample_weight" in inspect.signature(part.make().fit).parameters]
    weighted = {part.name for part in parts if part.kind != "regressor"}
    classifiers = (
        "bayes_logistic bayes_net blasso c45 centroid convex_net esnb extra_trees fsm incnet logistic mdl_histogram "
        "mlp nb nrbf probit rlsc snb svm"
    )
    others = {"corona", "rfe", "ssv_tree", "stepwise", "tree", "vdm"}
    assert weighted == {*EXPECTED["score"], *others, *classifiers.split()}
    weighted = {part.name for part in parts if part.kind == "regressor"}
    assert weighted == {"bayes_net", "blasso", "elastic_net", "extra_trees", "lasso", "mlp", "ridge", "svr", "tree"}


#: Parts that take long to fit by default, or want columns that are pairs: they are checked with less of the same.
LIGHTER = {
    **FEW_DRAWS,
    "boost": {"n_estimators": 20},
    "committee": {"cv": 3},
    "contrasts": {"n_estimators": 5},
    "corona": {"columns": 1},
    "extra_trees": {"n_estimators": 10},
    "forest": {"n_estimators": 10},
    "from_model": {"estimator": ExtraTrees(10)},
    "stability_selection": {"times": 5},
    "tuned_first": {"estimator": SVM("gaussian", 1.0, sigma="classes")},
}


#: Checks of what a class inherits, whatever its parameters; those of variants are slow tests.
ONCE = {"scikit_learn", "frames_keep_names", "input_is_left_alone", "labels_may_be_words", "whole_numbers_may_be_told"}


def variants():
    """All variants, with the kind of their part."""
    kinds = {name: kind for kind, name in reversed(FOUND)}
    return [((kinds[name], name), given) for name, given in VARIANTS] + [
        (("regressor", name), given) for name, given in NUMERIC_VARIANTS
    ]


def _cases():
    parts = [(key, LIGHTER.get(key[1], {})) for key in FOUND]
    for number, ((kind, name), parameters) in enumerate(parts + variants()):
        for check, run in checks(FOUND[kind, name].make(**parameters)):
            label = ",".join(f"{k}={v}" for k, v in parameters.items())
            # What a class does once is checked once; every variant has the checks of what its parameters can change.
            again = check.removesuffix("_of_numbers") in ONCE and number >= len(parts)
            yield pytest.param(run, id=f"{name}({label})-{check}", marks=[pytest.mark.slow] if again else [])


@pytest.mark.parametrize("run", list(_cases()))
def test_part_conforms(run):
    run()


@pytest.mark.parametrize("part", entries(), ids=lambda p: f"{p.kind} {p.name}")
def test_part_is_documented(part):
    assert part.summary.endswith(".")
    assert part.card.paper
    for name in part.card.search:
        assert name in part.parameters
        for value in part.card.search[name].values():
            assert part.parameters[name].refusal(value, part.name) is None


def test_the_class_is_called_what_the_recipe_calls_the_part():
    parts = [part for part in entries() if part.kind != "score"]
    both = {name for kind, name in FOUND if kind == "classifier" and ("regressor", name) in FOUND}
    # A word with two meanings stands for a classifier; the class of the other one says that it is a regressor.
    words = [p.name + "regressor" * (p.kind == "regressor" and p.name in both) for p in parts]
    classes = [p.make.__name__ for p in parts]
    unlike = {p: c for p, c in zip(words, classes, strict=True) if p.replace("_", "") != c.lower()}
    # `nb` is the field's abbreviation; the two that grow an SSV tree, a classifier and a selector, say which they are.
    assert unlike == {"nb": "NaiveBayes", "tree": "SSVTree", "ssv_tree": "SSVTreeSelector"}


def test_one_recipe_serves_both_tasks():
    """A word for a classifier and a regressor takes the regressor's arguments for both, in the same places."""
    both = {name: part for (kind, name), part in FOUND.items() if kind == "classifier" and part.regressor is not None}
    assert sorted(both) == [
        "bayes_net",
        "blasso",
        "blend",
        "boost",
        "committee",
        "extra_trees",
        "forest",
        "knn",
        "mlp",
        "tree",
    ]
    for part in both.values():
        assert set(part.regressor.parameters) <= set(part.parameters)
        assert part.regressor.card.positional in (part.card.positional, ())


def test_a_part_of_one_task_names_a_part_of_the_other():
    tasks = {"classifier": "regress", "regressor": "classify"}
    alone = [part for part in FOUND.values() if part.kind in tasks and part.regressor is None]
    for part in alone:
        if part.kind == "classifier" or ("classifier", part.name) not in FOUND:
            other = next(one for one in FOUND.values() if one.name == part.card.counterpart)
            assert other.serving(tasks[part.kind])
