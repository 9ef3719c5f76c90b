"""Committee: the models of a cross-validation vote."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import HasMethods, StrOptions, _safe_indexing, integer
from tamis.base.errors import TamisError
from tamis.base.inner_cv import inner_folds
from tamis.base.meta_estimators import MetaClassifier, check_classifier, in_words
from tamis.base.parallel import run_all
from tamis.base.part import Arguments, Limits, Part
from tamis.base.predictions import accuracy, balanced_accuracy, predict_rows
from tamis.base.search_range import choice
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.types import Codes, FloatArray
from tamis.classify.svm.svm import SVM


def _phrase(a: Arguments) -> str:
    folds, how = a.pop("cv"), a.pop("how")
    what = a.pop("estimator") or "a linear support vector machine"
    many = "mean probability" if how == "average" else "vote"
    return f"the {many} of {folds} copies, each fitted without one of {folds} folds, of {what}"


class Committee(MetaClassifier):
    """Vote of one model per fold, each fitted on the rows outside its fold.

    The folds are stratified. In a recipe: ``committee(9, cc(8000) | svm(linear))``.

    Parameters
    ----------
    cv : int, default=9
        Number of members; an odd number leaves no ties between two classes. Fewer when the largest class has fewer
        rows.
    estimator : estimator, optional
        A classifier, or a pipeline that ends in one, by default a linear ``SVM()``. It gets the rows unchanged: data
        frames, text, missing values and sparse matrices included.
    how : {"vote", "average"}, default="vote"
        "vote": the class that most members predict. "average": the class with the highest mean probability; the
        model must give probabilities.
    n_jobs : int, optional
        Processes that fit members side by side; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into folds, and seeds a model without a seed, differently for each member.

    Attributes
    ----------
    classes_ : array
    estimators_ : list of fitted estimators
    cv_accuracy_, cv_ber_ : arrays of shape (n_members,)
        Accuracy and balanced error rate of each member on its unseen rows.
    cv_estimate_ : dict
        ``{"accuracy": {"mean": ..., "sd": ...}, "ber": {...}}`` over the members.

    See Also
    --------
    Blend : Mean probability of different models, each fitted on all rows.

    Notes
    -----
    ``cv_estimate_`` is that of single members, not of the committee, which is usually a little better: use
    ``tamis.validate`` for it. Rows that belong together (groups) may lie in different folds.

    ``predict_proba`` is the share of votes, or the mean probability with ``how="average"``. With "vote" there is also
    ``decision_function``: votes, plus the members' mean evidence squeezed into (-1/3, 1/3), which breaks ties and never
    overturns a vote. Without evidence, or with equal evidence, the first class of ``classes_`` wins. Evidence is the
    model's probabilities if it has them, else its ``decision_function``. A member never predicts a class without rows
    in its training part.

    References
    ----------
    Grabczewski and Jankowski (2006), "Mining for complex models comprising feature selection and classification",
    section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import Committee, KNN
    >>> X = np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]])
    >>> model = Committee(3, KNN(1), random_state=0).fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> model.predict([[1.5], [7.5]])
    array(['low', 'high'], dtype='<U4')
    >>> model.cv_estimate_["accuracy"]
    {'mean': 1.0, 'sd': 0.0}
    """

    part: ClassVar[Part] = Part(
        "committee",
        positional=("cv", "estimator"),
        search={"cv": choice(5, 9, 15)},
        paper="Grabczewski and Jankowski 2006, section 3",
        phrase=_phrase,
        role="fold_ensemble",
        limits=Limits(class_rows=3),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cv": [integer(2)],
        "estimator": [HasMethods(["fit", "predict"]), None],
        "how": [StrOptions({"vote", "average"})],
        "n_jobs": [integer(), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        cv: int = 9,
        estimator: Any = None,
        *,
        how: str = "vote",
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.cv = cv
        self.estimator = estimator
        self.how = how
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def gives_probabilities(self) -> bool:  # type: ignore[override]
        """Whether members' probabilities are averaged."""
        return self.how == "average"

    def _fit(self, X: Any, y: Any) -> None:
        (model,) = self._models()
        check_classifier(model, "committee: estimator")
        if self.how == "average" and not hasattr(model, "predict_proba"):
            raise TamisError(
                f"committee: how='average' needs class probabilities, which {in_words(model)} does not give"
            )
        seed = int(generator(self.random_state).integers(2**31))
        if np.bincount(y).max() < 2:
            raise TamisError("committee needs a class with at least two rows to split into folds")
        parts = inner_folds(y, self.cv, seed, "committee")
        if any(np.ptp(y[train]) == 0 for train, _ in parts):
            raise TamisError(f"committee: a class is too small for {len(parts)} folds; some member would see one class")
        labels = self.classes_[y]
        tasks = [(seeded(clone(model), spawn(seed, fold)), X, labels, *part) for fold, part in enumerate(parts)]
        found = run_all(_member, tasks, self.n_jobs)
        self.estimators_ = [member for member, _ in found]
        unseen = [(y[test], self._codes(labels)) for (_, labels), (_, test) in zip(found, parts, strict=True)]
        self.cv_accuracy_ = np.array([accuracy(*one) for one in unseen])
        self.cv_ber_ = np.array([1.0 - balanced_accuracy(*one) for one in unseen])
        self.cv_estimate_ = {
            name: {"mean": float(values.mean()), "sd": float(values.std(ddof=1))}
            for name, values in (("accuracy", self.cv_accuracy_), ("ber", self.cv_ber_))
        }

    def predict_proba(self, X: Any) -> FloatArray:
        """Share of the votes for each class, or mean probability, in the order of ``classes_``."""
        if self.how == "average":
            return self._checked_decision(X)
        check_is_fitted(self)
        X = self._read(X, reset=False)
        return self._votes(self._predict(member, X)[0] for member in self.estimators_) / len(self.estimators_)

    def _decision(self, X: Any) -> FloatArray:
        predictions = [self._predict(member, X) for member in self.estimators_]
        evidence = [one for _, one in predictions if one is not None]
        mean = np.mean(evidence, axis=0) if evidence else 0.0
        if self.how == "average":
            return np.asarray(mean)
        return self._votes(codes for codes, _ in predictions) + mean / (3 * (np.abs(mean) + 1))

    def _votes(self, predictions: Any) -> FloatArray:
        """Number of members that predict each class, row by row."""
        return np.sum([np.eye(self.classes_.shape[0])[codes] for codes in predictions], axis=0)

    def _predict(self, member: Any, X: Any) -> tuple[Codes, FloatArray | None]:
        """The classes that a member predicts and its evidence for each class, if it gives any."""
        found = predict_rows(member, X)
        codes = self._codes(found.labels)
        given = found.decision if found.probabilities is None else found.probabilities
        if given is None:
            return codes, None
        evidence = np.asarray(given, dtype=np.float64)
        if found.probabilities is not None:
            absent = np.zeros(evidence.shape[0])
        else:
            absent = -np.abs(evidence) if evidence.ndim == 1 else evidence.min(axis=1)
        evidence = np.column_stack([-evidence, evidence]) if evidence.ndim == 1 else evidence
        known = np.searchsorted(self.classes_, self.classes_ if found.classes is None else found.classes)
        if evidence.shape[1] != known.shape[0]:
            # One column per pair of classes, an option of some of scikit-learn's models.
            return codes, None
        spread = np.repeat(absent[:, None], self.classes_.shape[0], axis=1)
        spread[:, known] = evidence
        return codes, spread

    def _codes(self, labels: Any) -> Codes:
        return np.searchsorted(self.classes_, np.asarray(labels)).astype(np.intp, copy=False)

    def _models(self) -> list[Any]:
        return [SVM() if self.estimator is None else self.estimator]


def _member(model: Any, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> tuple[Any, np.ndarray]:
    """The model fitted on some rows, and its predictions on others."""
    model.fit(_safe_indexing(X, train), y[train])
    return model, np.asarray(model.predict(_safe_indexing(X, test)))
