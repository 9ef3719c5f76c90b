"""VDM: nominal columns as what their levels tell of the target."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis.base._sklearn import StrOptions, _check_feature_names_in, integer, real
from tamis.base.inner_cv import out_of_fold, target_vectors, transform_folds
from tamis.base.mixed_columns import MixedTable, free_name, level_codes, levels_of
from tamis.base.part import Part
from tamis.base.search_range import choice
from tamis.base.seeds import generator
from tamis.base.task import BOTH, WantedTask, is_numeric
from tamis.base.transformer import MixedTransformer, SupervisedTransformer, all_numbers, take_apart
from tamis.base.types import Codes, FloatArray, Matrix, Target
from tamis.base.validation import bearing_rows, check_weights, forget, weighted_numbers
from tamis.neighbours.level_means import level_means


class VDM(MixedTransformer, SupervisedTransformer):
    """Replace each level of a nominal column by the class shares, or the mean target, of its rows.

    With n_v rows of a level v, n_vc of them of class c, and p_c the share of class c in all rows, the level becomes

        ``P(c | v) = (n_vc + m p_c) / (n_v + m)``

    where m is the parameter `smoothing`. With k > 2 classes a column becomes k, one for each class; with two classes it
    becomes one, the share of the second, since the other is 1 less it. A target of numbers makes one column, the mean
    of the numbers in place of the shares. Unknown and missing levels get the shares, or the mean, of all rows. Numeric
    columns pass unchanged, missing numbers (NaN) too, and columns keep their order.

    Without smoothing the Euclidean distance of two rows of nominal columns is the value difference metric of Stanfill
    and Waltz as Wilson and Martinez use it, ``sqrt(sum_c (P(c | v) - P(c | v'))^2)`` for one column, and for two
    classes this over the root of 2. ``knn(symbols=vdm)`` divides by the root of 2 always, so that its neighbours are
    the same. Beside numeric columns it divides those by their range, which this transform leaves alone.

    A share of few rows is made of their own classes. ``fit_transform`` therefore gives each training row what the rows
    of the other folds tell, shifted so that the shares of all rows agree: in a pipeline no model gets a value made with
    the row's own target. ``transform`` uses all training rows. The two differ on the training rows, as with
    scikit-learn's ``TargetEncoder``; ``cv=None`` makes them the same.

    Parameters
    ----------
    smoothing : float, default=1.0
        As how many more rows with the shares of all rows a level counts (the m-estimate); 0 gives the plain shares.
    cv : int or None, default=5
        Folds of ``fit_transform``; fewer when the largest class has fewer rows. None gives the training rows what
        ``transform`` gives them.
    random_state : int, Generator, RandomState or None, default=None
        Draws the folds.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers; by default numbers with fractions are numbers.

    Attributes
    ----------
    nominal_ : bool array of shape (n_features,)
        Which input columns are nominal.
    levels_ : dict of int to array of str
        The levels of each nominal column, by its number: the sorted distinct texts of the training rows.
    values_ : dict of int to float array of shape (n_levels + 1, n_outputs)
        What the levels of each nominal column become and, last, an unknown or missing one.
    origins_ : int array of shape (n_features_out,)
        The input column of each output column.
    classes_ : array
        The class labels, when the target holds classes.

    See Also
    --------
    Encode : Makes an indicator of each level, without a look at the target.
    tamis.classify.KNN : Compares levels by the same distance.

    Notes
    -----
    With sample weights rows count as often as they weigh. Rows of weight zero have no part in the fit, and
    ``fit_transform`` gives them what ``transform`` does.

    References
    ----------
    Stanfill and Waltz (1986), "Toward memory-based reasoning"; Wilson and Martinez (1997), "Improved heterogeneous
    distance functions"; Grabczewski and Jankowski (2003), "Transformations of symbolic data for continuous data
    oriented models"; Micci-Barreca (2001), "A preprocessing scheme for high-cardinality categorical attributes in
    classification and prediction problems".

    Examples
    --------
    >>> import polars as pl
    >>> from tamis.transform import VDM
    >>> X = pl.DataFrame({"colour": ["red", "red", "red", "blue"], "size": [1.0, 2.0, 3.0, 4.0]})
    >>> vdm = VDM(smoothing=0.0).fit(X, ["no", "no", "yes", "yes"])
    >>> vdm.transform(X).round(2)
    array([[0.33, 1.  ],
           [0.33, 2.  ],
           [0.33, 3.  ],
           [1.  , 4.  ]])
    >>> vdm.transform(pl.DataFrame({"colour": ["green", None], "size": [5.0, 6.0]}))
    array([[0.5, 5. ],
           [0.5, 6. ]])
    """

    part: ClassVar[Part] = Part(
        "vdm",
        positional=("smoothing",),
        search={"smoothing": choice(0.0, 1.0, 10.0)},
        paper="Stanfill and Waltz 1986; Wilson and Martinez 1997",
        phrase="puts the class shares, or the mean target, of each name in its place",
        role="class_encoding",
        searched=False,
    )
    tasks = BOTH
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "smoothing": [real(0, None, "left")],
        "cv": [integer(2), None],
        "random_state": ["random_state", np.random.Generator],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }

    def __init__(
        self,
        smoothing: float = 1.0,
        *,
        cv: int | None = 5,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        task: WantedTask = "auto",
    ) -> None:
        self.smoothing = smoothing
        self.cv = cv
        self.random_state = random_state
        self.task = task

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows `X` and their target `y`, each row counting as much as its weight."""
        self._read_and_learn(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and give each row the values found on the other folds."""
        table, y, weight = self._read_and_learn(X, y, sample_weight)
        if self.cv is None or not table.text:
            return self._apply(table)
        codes = self._codes(table)
        found = self._placed(codes, list(self.values_.values()))
        rows = np.flatnonzero(weight > 0)
        codes, y, weight = codes[rows], y[rows], weight[rows]

        def values(train: np.ndarray, test: np.ndarray) -> FloatArray:
            return self._placed(codes[test], self._means(codes[train], y[train], weight[train]))

        folds = transform_folds(y, self.cv, generator(self.random_state, 1), self.part.name)
        found[rows] = out_of_fold(values, target_vectors(y, self._shown(y)), folds, weight)
        return self._assembled(table, found)

    def _read_and_learn(self, X: Any, y: Any, sample_weight: Any) -> tuple[MixedTable, Target, FloatArray]:
        """Fit, and return the validated rows, their target and their weights."""
        self._validate_params()
        forget(self)
        table, y = self._begin(X, y)
        weight = check_weights(sample_weight, table.numbers)
        weight = np.ones(y.size) if weight is None else weight
        self._learn(table, y, weight)
        return table, y, weight

    def _begin(self, X: Any, y: Any) -> tuple[MixedTable, Target]:
        if all_numbers(self, X, reset=True):
            numbers, y = SupervisedTransformer._begin(self, X, y)
            table = MixedTable(np.zeros(numbers.shape[1], dtype=bool), numbers, [], X)
        else:
            y = validate_data(self, y=y)
            table = take_apart(self, X, reset=True)
            check_consistent_length(table.numbers, y)
            y = self._target(y)
        self.nominal_ = table.nominal
        return table, y

    def _learn(self, X: MixedTable, y: Target = None, sample_weight: Any = None) -> None:
        columns = [int(j) for j in np.flatnonzero(X.nominal)]
        texts = zip(columns, X.text, strict=True)
        self.levels_ = {j: np.array(levels_of(column), dtype=object) for j, column in texts}
        if is_numeric(y):
            codes, y, weight, _ = weighted_numbers(self._codes(X), y, sample_weight, self.part.name)
        else:
            codes, y, weight, _ = bearing_rows(self._codes(X), y, sample_weight, self.classes_, self.part.name)
        self.values_ = dict(zip(columns, self._means(codes, y, weight), strict=True))
        widths = np.where(X.nominal, max(len(self._shown(y)), 1), 1)
        self.origins_ = np.repeat(np.arange(X.nominal.size), widths)

    def _shown(self, y: Target) -> range:
        """The classes whose shares make columns; none where the target holds numbers."""
        return range(0) if is_numeric(y) else range(self.classes_.size == 2, self.classes_.size)

    def _means(self, codes: Codes, y: Target, weight: FloatArray) -> list[FloatArray]:
        """What the levels of each nominal column become, and last an unknown or missing one."""
        found = []
        n_classes, drop = (0, 0) if is_numeric(y) else (self.classes_.size, int(self.classes_.size == 2))
        for column, levels in zip(codes.T, self.levels_.values(), strict=True):
            means = level_means(
                column, y, levels.size, n_classes=n_classes, weight=weight, smoothing=float(self.smoothing)
            )
            found.append(means[:, drop:])
        return found

    def _codes(self, table: MixedTable) -> Codes:
        """Position of each level among those of the training rows; -1 for an unknown or missing one."""
        codes = np.empty((table.numbers.shape[0], len(table.text)), dtype=np.intp)
        for place, (column, levels) in enumerate(zip(table.text, self.levels_.values(), strict=True)):
            codes[:, place] = np.nan_to_num(level_codes(column, levels.tolist()), nan=-1.0)
        return codes

    def _placed(self, codes: Codes, values: list[FloatArray]) -> FloatArray:
        """The values in place of the codes, column after column; those of -1 are the last."""
        return np.hstack([known[column] for known, column in zip(values, codes.T, strict=True)])

    def _apply(self, X: MixedTable) -> Matrix:
        if not X.text:
            return X.numbers.copy()
        return self._assembled(X, self._placed(self._codes(X), list(self.values_.values())))

    def _assembled(self, table: MixedTable, values: FloatArray) -> FloatArray:
        """The numbers and the values of the nominal columns, in the order of the columns."""
        nominal = self.nominal_[self.origins_]
        out = np.empty((values.shape[0], nominal.size))
        out[:, ~nominal] = table.numbers
        out[:, nominal] = values
        return out

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns: those of the input, ``=class`` behind nominal ones for more than two classes.

        Such a name that exists already gets a number as suffix.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if self.origins_.size == self.nominal_.size:
            return np.asarray(names, dtype=object)
        taken = {name for name, nominal in zip(names, self.nominal_, strict=True) if not nominal}
        out: list[str] = []
        for name, nominal in zip(names, self.nominal_, strict=True):
            out.extend([free_name(f"{name}={label}", taken) for label in self.classes_] if nominal else [name])
        return np.asarray(out, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The tag that allows fit_transform to differ from transform.
        tags.non_deterministic = self.cv is not None
        return tags
