"""The checks that scikit-learn does not have: sparse equals dense, columns may move, labels may be text, ..."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import has_fit_parameter

from tamis import scores
from tamis.base.cut import NothingPasses
from tamis.base.errors import TamisError
from tamis.base.seeds import generator, seeded
from tamis.base.selector import Selector
from tamis.base.task import BOTH, TakesTarget, Task
from tamis.bayes.drawn import NotMixedWarning
from tamis.select.ranking import Ranking

#: A check of an estimator on the data of a task.
Check = Callable[[Any, Task], None]

#: Checks of scikit-learn that set parameters to values which parts need not take, by the parameter.
_NARROWER = {
    "class_weight": {"check_class_weight_classifiers": 'class_weight takes "balanced" alone'},
    "n_neighbors": {"check_regressors_train": "alpha, which it sets, is an exponent of 1 or more"},
    "hidden_layer_sizes": {
        f"check_sample_weight_equivalence_on_{kind}_data": "training ends early; see the check of weights below"
        for kind in ("dense", "sparse")
    },
    "cv": {
        f"check_sample_weight_equivalence_on_{kind}_data": "cv takes a number of folds; see the check of weights below"
        for kind in ("dense", "sparse")
    },
}

#: On the data of a check a cut may select nothing, and chains that are short on purpose need not have met.
_NO_FAULT = (NothingPasses, NotMixedWarning)

_FORMATS: tuple[Callable[[Any], Any], ...] = (sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix)


def checks(estimator: Any) -> Iterator[tuple[str, Callable[[], None]]]:
    """Every check that applies to an estimator.

    Parameters
    ----------
    estimator : estimator
        Not fitted.

    Yields
    ------
    name : str
    run : callable
        Runs the check, without arguments.

    See Also
    --------
    check : Runs all of them.
    """
    yield "scikit_learn", partial(_quietly, _scikit_learn, estimator, ignored=(Warning,))
    for task in _tasks(estimator):
        for run in _own_checks(estimator, task):
            name = run.__name__.lstrip("_") + ("_of_numbers" if task == "regress" else "")
            yield name, partial(_quietly, run, estimator, task)


def _tasks(estimator: Any) -> tuple[Task, ...]:
    """The tasks on whose data an estimator is checked: classes alone if it ignores the target."""
    if is_regressor(estimator):
        return ("regress",)
    if not isinstance(estimator, TakesTarget) or not estimator._supervised():
        return ("classify",)
    settled = estimator._settled_task()
    return BOTH if settled == "auto" else (settled,)


def _own_checks(estimator: Any, task: Task) -> list[Check]:
    own: list[Check] = [
        _constants_and_duplicates_survive,
        _one_seed_one_result,
        _frames_keep_names,
        _input_is_left_alone,
    ]
    accepts = estimator.__sklearn_tags__().input_tags
    conditional: list[tuple[bool, Check]] = [
        (task == "classify", _labels_may_be_words),
        (task == "regress" and "task" in estimator.get_params(), _whole_numbers_may_be_told),
        (accepts.sparse, _sparse_equals_dense),
        (not getattr(estimator, "draws_columns", False), _columns_may_move),
        (isinstance(estimator, Selector), _ranking_gives_the_places_in_the_order),
        (is_classifier(estimator), _permuted_labels_score_at_chance),
        (is_regressor(estimator), _permuted_numbers_explain_nothing),
        (is_regressor(estimator), _predictions_follow_the_scale_of_the_target),
        (has_fit_parameter(estimator, "sample_weight"), _weights_count_as_repeated_rows),
        (accepts.allow_nan, _missing_values_stay_in_their_column),
    ]
    return [*own, *(check for applies, check in conditional if applies)]


def check(estimator: Any) -> None:
    """Run every check of :func:`checks`; raises AssertionError, or the estimator's error, at the first failure.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    """
    for _, run in checks(estimator):
        run()


def _quietly(run: Callable[..., None], *given: Any, ignored: tuple[type[Warning], ...] = _NO_FAULT) -> None:
    """Run a check without warnings that are no fault of the estimator."""
    with warnings.catch_warnings():
        for category in ignored:
            warnings.simplefilter("ignore", category)
        run(*given)


def _scikit_learn(estimator: Any) -> None:
    given = estimator.get_params()
    narrower = {check: why for name, failing in _NARROWER.items() if name in given for check, why in failing.items()}
    check_estimator(estimator, expected_failed_checks=narrower)


def _problem(task: Task = "classify", n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Non-negative rows with many zeros, three informative columns of eight, and class codes or numbers."""
    rng = generator(seed)
    X = rng.random((90, 8)) * (rng.random((90, 8)) < 0.6)
    if task == "regress":
        return X, X[:, :3] @ np.array([3.0, 2.0, 1.0]) + 0.2 * rng.standard_normal(90)
    y = np.arange(90) % n_classes
    X[:, :3] += 0.7 * y[:, None] * (rng.random((90, 3)) < 0.8)
    return X, y


def _fitted(estimator: Any, X: Any, y: Any, **fit: Any) -> Any:
    return seeded(clone(estimator), 0).fit(X, y, **fit)


def _result(fitted: Any, X: Any) -> np.ndarray:
    """Evidence for the classes, predicted numbers, or the transformed columns, centred.

    A transform may shift dense columns only.
    """
    if is_regressor(fitted):
        return np.asarray(fitted.predict(X))
    for method in ("predict_proba", "decision_function"):
        if hasattr(fitted, method):
            return np.asarray(getattr(fitted, method)(X))
    out = fitted.transform(X)
    out = out.toarray() if sp.issparse(out) else np.asarray(out)
    return np.asarray(out - out.mean(axis=0))


def _forms(estimator: Any) -> tuple[Callable[[Any], Any], ...]:
    """Dense rows, and sparse ones if the estimator takes them."""
    return (np.asarray, sp.csr_array) if estimator.__sklearn_tags__().input_tags.sparse else (np.asarray,)


def _sparse_equals_dense(estimator: Any, task: Task) -> None:
    """CSR and CSC, as arrays and as matrices, give what the dense array gives."""
    for n_classes in (2, 3) if task == "classify" else (0,):
        X, y = _problem(task, n_classes)
        expected = _result(_fitted(estimator, X, y), X)
        for form in _FORMATS:
            got = _result(_fitted(estimator, form(X), y), form(X))
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)


def _columns_may_move(estimator: Any, task: Task) -> None:
    """Permuting the columns permutes the result and changes nothing else."""
    X, y = _problem(task)
    order = generator(1).permutation(X.shape[1])
    here, there = _fitted(estimator, X, y), _fitted(estimator, X[:, order], y)
    if hasattr(here, "get_support"):
        np.testing.assert_array_equal(there.get_support(), here.get_support()[order])
        return
    expected, got = _result(here, X), _result(there, X[:, order])
    if hasattr(here, "transform") and expected.shape == X.shape:
        expected, got = np.sort(expected, axis=1), np.sort(got, axis=1)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)


def _labels_may_be_words(estimator: Any, task: Task) -> None:
    """Text labels and labels -1/+1 give what 0/1 give."""
    X, y = _problem(task)
    expected = _result(_fitted(estimator, X, y), X)
    for labels in (np.array(["ill", "well"]), np.array([-1, 1]), np.array([-1.0, 1.0])):
        model = _fitted(estimator, X, labels[y])
        np.testing.assert_allclose(_result(model, X), expected)
        if is_classifier(model):
            assert set(model.predict(X)) <= set(labels)


def _whole_numbers_may_be_told(estimator: Any, task: Task) -> None:
    """With ``task="regress"`` whole numbers are numbers, in any type and not classes."""
    X, y = _problem(task)
    whole = np.rint(10 * y)
    told = clone(estimator).set_params(task=task)
    expected = _fitted(estimator, X, whole + 0.25)
    for target in (whole, whole.astype(int), (whole + 0.25).astype(object)):
        got = _fitted(told, X, target)
        assert not hasattr(got, "classes_")
        if hasattr(got, "get_support"):
            np.testing.assert_array_equal(got.get_support(), expected.get_support())
        else:
            np.testing.assert_allclose(_result(got, X), _result(expected, X), atol=1e-8)


def _constants_and_duplicates_survive(estimator: Any, task: Task) -> None:
    """Constant, empty and repeated columns do no harm."""
    X, y = _problem(task)
    X = np.column_stack([X, np.full(len(y), 0.1), np.zeros(len(y)), X[:, 0]])
    for form in _forms(estimator):
        assert np.isfinite(_result(_fitted(estimator, form(X), y), form(X))).all()


def _one_seed_one_result(estimator: Any, task: Task) -> None:
    """The same seed gives the same result, for any number of workers."""
    X, y = _problem(task)
    expected = _result(_fitted(estimator, X, y), X)
    again = clone(estimator)
    if "n_jobs" in again.get_params():
        again.set_params(n_jobs=2)
    np.testing.assert_array_equal(_result(_fitted(again, X, y), X), expected)


def _frames_keep_names(estimator: Any, task: Task) -> None:
    """Polars frames are read like arrays, and a selector names the columns it selects."""
    X, y = _problem(task)
    names = [f"gene {i}" for i in range(X.shape[1])]
    frame = pl.DataFrame(X, schema=names)
    model = _fitted(estimator, frame, y)
    assert list(model.feature_names_in_) == names
    np.testing.assert_allclose(_result(model, frame), _result(_fitted(estimator, X, y), X))
    if hasattr(model, "get_support"):
        selected = [name for name, keep in zip(names, model.get_support(), strict=True) if keep]
        assert list(model.get_feature_names_out()) == selected
        assert model.set_output(transform="polars").transform(frame).columns == selected


def _input_is_left_alone(estimator: Any, task: Task) -> None:
    """Fitting and applying change neither dense nor sparse input."""
    X, y = _problem(task)
    for form in _forms(estimator):
        given: Any = form(X.copy())
        _result(_fitted(estimator, given, y), given)
        np.testing.assert_array_equal(given.toarray() if sp.issparse(given) else given, X)


def _ranking_gives_the_places_in_the_order(estimator: Any, task: Task) -> None:
    """`order_` has every column once, the best first, and `ranking_` the place of each column, 1 for the best."""
    X, y = _problem(task)
    fitted = _fitted(estimator, X, y)
    np.testing.assert_array_equal(np.sort(fitted.order_), np.arange(X.shape[1]))
    np.testing.assert_array_equal(fitted.ranking_[fitted.order_], np.arange(1, X.shape[1] + 1))


def _permuted_labels_score_at_chance(estimator: Any, task: Task) -> None:
    """With permuted labels the cross-validated accuracy is that of guessing."""
    accuracy = []
    for seed in range(4):
        X, y = _problem(task, seed=seed)
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        model = seeded(clone(estimator), seed)
        accuracy.append(cross_val_score(model, X, generator(seed).permutation(y), cv=folds).mean())
    assert abs(np.mean(accuracy) - 0.5) < 0.1, f"accuracy {np.mean(accuracy):.3f} on permuted labels"


def _permuted_numbers_explain_nothing(estimator: Any, task: Task) -> None:
    """With permuted targets the cross-validated R2 is about zero or below."""
    explained = []
    for seed in range(4):
        X, y = _problem(task, seed=seed)
        model = seeded(clone(estimator), seed)
        folds = KFold(5, shuffle=True, random_state=seed)
        explained.append(cross_val_score(model, X, generator(seed).permutation(y), cv=folds, scoring="r2").mean())
    assert np.mean(explained) < 0.1, f"R2 {np.mean(explained):.3f} on permuted targets"


def _predictions_follow_the_scale_of_the_target(estimator: Any, task: Task) -> None:
    """Targets in other units, with another zero, give the same predictions in those units."""
    X, y = _problem(task)
    expected = _result(_fitted(estimator, X, y), X)
    for scale, zero in ((2.0**-30, 0.0), (2.0**20, 2.0**26)):
        got = _result(_fitted(estimator, X, scale * y + zero), X)
        np.testing.assert_allclose((got - zero) / scale, expected, rtol=1e-5, atol=1e-5)


def _weights_count_as_repeated_rows(estimator: Any, task: Task) -> None:
    """A row of weight 2 counts as two rows, one of weight 0 as none, in sparse rows too."""
    X, y = _problem(task)
    weight = generator(2).integers(0, 3, len(y)).astype(float)
    repeats = weight.astype(int)
    repeated = _fitted(estimator, np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    for rows in (X, sp.csr_array(X)) if estimator.__sklearn_tags__().input_tags.sparse else (X,):
        weighted = _fitted(estimator, rows, y, sample_weight=weight)
        if hasattr(weighted, "scores_"):
            np.testing.assert_allclose(weighted.scores_, repeated.scores_)
        np.testing.assert_allclose(_result(weighted, X), _result(repeated, X), rtol=1e-3, atol=1e-3)


def _missing_values_stay_in_their_column(estimator: Any, task: Task) -> None:
    """Missing values do no harm, and do not change the scores of other columns."""
    X, y = _problem(task)
    holes = X.copy()
    holes[::4, -1] = np.nan
    for form in _forms(estimator):
        whole = _fitted(estimator, form(X), y)
        try:
            broken = _fitted(estimator, form(holes), y)
        except TamisError as refused:
            # Sparse rows with missing values may be refused, with an error that says so.
            if form is np.asarray or "missing" not in str(refused):
                raise
            continue
        if isinstance(whole, Ranking) and _columnwise(whole):
            np.testing.assert_allclose(broken.scores_[:-1], whole.scores_[:-1])
        if hasattr(broken, "scores_"):
            assert np.isfinite(broken.scores_).all()
        elif is_classifier(broken) or is_regressor(broken):
            assert np.isfinite(_result(broken, form(holes))).all()


def _columnwise(ranking: Ranking) -> bool:
    """Whether the score of a column depends on that column alone; assumed for a user's function."""
    by = scores.get(ranking.by) if isinstance(ranking.by, str) else ranking.by
    return bool(getattr(by, "columnwise", True))
