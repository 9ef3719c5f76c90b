"""Feature Space Mapping: nodes of separable functions, one a cluster, that are read as rules."""

from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import softmax
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.errors import TamisError
from tamis.base.nominal import TakesNominal
from tamis.base.part import Limits, Part
from tamis.base.search_range import choice
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import bearing_rows, column_names, dense_rows
from tamis.classify.fsm.functions import FUNCTIONS
from tamis.classify.fsm.grow import Grower
from tamis.classify.fsm.nodes import Node, Table, evidence
from tamis.classify.fsm.rules import Bounds, FuzzyCondition, FuzzyRule, crisp_rules, shortest
from tamis.trees.rules import Rule

#: Values of rows that are predicted at a time.
_BLOCK = 4_000_000


class FSM(TakesNominal, WeightedClassifier):
    """Map of where the classes are: nodes of separable functions, one a cluster, that are read as rules.

    A node of class c has a centre D and a deviation v in each column. Its value at a row x is a product::

        G(x) = m * prod_j g(|x_j - D_j| / v_j) / v_j,

    with m the weight of its training rows. What speaks for a class is the sum, or the largest, of the values of its
    nodes, so that nodes are an estimate of the density of rows and classes.

    =========== ========================================================================
    gaussian    ``g(z) = exp(-z^2 / 2)``
    triangular  falls evenly from 1 to 0
    rectangular 1 up to sqrt(3), then 0: the node is a box
    trapezoidal 1 up to half the half-width, then falls evenly to 0
    biradial    a product of a rising and a falling logistic function
    =========== ========================================================================

    All have the height 1 and the deviation 1. In a nominal column the factor is the share of the level among the rows
    of the node. A missing value drops its factor.

    There is a node for each class at first. Rows of a node that are taken for another class make a new node, for each
    such class; nodes then learn their centres and deviations from the rows of their class that they are the strongest
    for. This is repeated until every row is covered, which is to say taken for its own class, or a limit is reached.

    Parameters
    ----------
    max_nodes : int, default=50
        Most nodes; at least one for each class.
    function : {"gaussian", "triangular", "rectangular", "trapezoidal", "biradial"}, default="gaussian"
        The function of a column.
    combine : {"sum", "strongest"}, default="sum"
        Whether the nodes of a class add up or the strongest speaks for it.
    min_samples : float, default=5.0
        Weight of rows that make a new node. With 1 or less, rows that are left over in the end get nodes of their own,
        each as narrow as it takes: given nodes enough, every row is covered.
    coverage : float, default=1.0
        Share of the rows to cover.
    smoothing : float, default=2.0
        Weight of rows that the variance within all nodes counts as, in the variance of each node; in nominal columns
        the shares of the levels in all rows.

    Attributes
    ----------
    classes_ : array
    labels_ : int array of shape (n_nodes,)
        The place in ``classes_`` of each node's class.
    centres_, deviations_ : arrays of shape (n_nodes, n_numeric_columns)
        Of the numeric columns, in their units.
    members_ : array of shape (n_nodes,)
        Weight of the training rows that each node stands for: it is the strongest of their class.
    coverage_ : float
        Share of the training rows that are covered.
    nominal_ : bool array of shape (n_features,)
        Which columns are nominal.
    levels_ : dict of int to array of str
        The levels of each nominal column, by its number.

    See Also
    --------
    IncNet : A growing network of radial functions, trained row by row.
    MDLHistogram : Cells whose number the description length decides.

    Notes
    -----
    Columns may have any units. In units of the column's deviation a factor g / v is no less than a thousandth, so that
    no column alone rules a node out; a deviation is no less than a thousandth, but in nodes for one row. A level that
    training did not have is treated as missing. Of equal rows of several classes the heaviest class is covered. Rows
    of weight 2 count as two rows each. Nothing is drawn. Sparse rows are made dense, up to 10^8 values.

    Duch's papers were not at hand. What is built follows what their abstracts and later papers of the group say: a
    density of inputs and classes by nodes of separable functions, growing where rows are taken for another class until
    all are covered, rules from intervals of the nodes, rectangular functions for crisp and soft ones for fuzzy rules.
    Decided here: all rows are looked at together and not one after another, so that their order does not matter;
    centres and deviations are those of the rows that a node stands for, in place of gradient steps; heights follow from
    densities and are not trained; functions are not rotated.

    References
    ----------
    Duch and Diercksen (1995), "Feature space mapping as a universal adaptive system"; Adamczak, Duch and Jankowski
    (1997), "New developments in the feature space mapping model"; Duch, Adamczak and Grabczewski (2001), "A new
    methodology of extraction, optimization and application of crisp and fuzzy logical rules".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis.classify import FSM
    >>> iris = load_iris(as_frame=True)
    >>> model = FSM().fit(iris.data, iris.target_names[iris.target])
    >>> for rule in model.rules():
    ...     print(rule)
    IF petal length (cm) < 2.5 THEN setosa  (50 rows)
    IF 2.5 <= petal length (cm) < 5.15 AND petal width (cm) < 1.85 THEN versicolor  (58 rows, 8 of them other classes)
    IF petal length (cm) >= 4.45 AND petal width (cm) >= 1.35 THEN virginica  (68 rows, 18 of them other classes)
    >>> print(model.rules("fuzzy")[1])
    IF petal length (cm) about 4.26 +- 0.55 AND petal width (cm) about 1.33 +- 0.23 THEN versicolor  (50 rows)
    """

    part: ClassVar[Part] = Part(
        "fsm",
        positional=("max_nodes",),
        search={"min_samples": choice(2.0, 5.0, 20.0), "function": choice("gaussian", "triangular")},
        paper="Duch and Diercksen 1995; Adamczak, Duch and Jankowski 1997",
        phrase="a map of the feature space by separable functions",
        searched=False,
        limits=Limits(rows=10_000, values=2e6, class_rows=3),
        slow=True,
        scale_invariant=True,
        counterpart="tree",
    )
    gives_probabilities = True
    accepts_missing = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_nodes": [integer(1)],
        "function": [StrOptions(set(FUNCTIONS))],
        "combine": [StrOptions({"sum", "strongest"})],
        "min_samples": [real(0, None, "left")],
        "coverage": [real(0, 1, "right")],
        "smoothing": [real(0, None, "left")],
    }

    def __init__(
        self,
        max_nodes: int = 50,
        *,
        function: str = "gaussian",
        combine: Literal["sum", "strongest"] = "sum",
        min_samples: float = 5.0,
        coverage: float = 1.0,
        smoothing: float = 2.0,
    ) -> None:
        self.max_nodes = max_nodes
        self.function = function
        self.combine = combine
        self.min_samples = min_samples
        self.coverage = coverage
        self.smoothing = smoothing

    def _fit(self, X: Any, y: Any, sample_weight: FloatArray | None = None) -> None:
        X, y, weight, _ = bearing_rows(X, y, sample_weight, self.classes_, "fsm")
        rows = dense_rows(X, "fsm")
        self._learn_units(rows, weight)
        table = self._table(rows)
        n_classes = self.classes_.shape[0]
        grown = Grower(
            table, y, weight, n_classes, self.function, self.combine, max(int(self.max_nodes), n_classes),
            float(self.min_samples), float(self.coverage), float(self.smoothing),
        ).grow()  # fmt: skip
        self.labels_ = np.array([node.label for node in grown.nodes])
        self._heights = np.array([node.height for node in grown.nodes])
        self.centres_ = self._middle + self._unit * np.array([node.centre for node in grown.nodes])
        self.deviations_ = self._unit * np.array([node.deviation for node in grown.nodes])
        self._shares = [np.array(some) for some in zip(*(node.shares for node in grown.nodes), strict=True)]
        found = evidence(self._values(table), self.labels_.tolist(), n_classes, self.combine).argmax(axis=1)
        self.coverage_ = float(weight[found == y].sum() / weight.sum())
        self.members_ = np.bincount(grown.members, weights=weight, minlength=self.labels_.size)
        bounds = shortest(rows, y, weight, self.labels_, grown.members, self.nominal_)
        self._bounds, self._inside, self._rule_weight = bounds

    def rules(self, kind: Literal["crisp", "fuzzy"] = "crisp") -> list[Rule] | list[FuzzyRule]:
        """The nodes as logical formulae; ``print`` shows a rule as a sentence.

        Parameters
        ----------
        kind : {"crisp", "fuzzy"}, default="crisp"
            A crisp rule has the intervals, and sets of levels, that all rows of the node lie in: those few that rule
            out most rows of other classes. A fuzzy rule has the centre and the half-width of the node's functions of
            the same columns, and how much it says of a row is their product.

        Returns
        -------
        list of tamis.trees.rules.Rule or of tamis.classify.fsm.rules.FuzzyRule
            Those of one class after those of another, the heaviest first. Rules of several classes may hold for a row;
            its class is then that of the nodes' sum or of the strongest.
        """
        check_is_fitted(self)
        names = column_names(self)
        order = [node for node in np.lexsort((-self.members_, self.labels_)).tolist() if self.members_[node] > 0]
        if kind == "crisp":
            bounds = Bounds(self._bounds, self._inside, self._rule_weight)
            found = crisp_rules(bounds, self.classes_[self.labels_], names, self.levels_)
            return [found[node] for node in order]
        if kind != "fuzzy":
            raise TamisError(f"fsm: rules are crisp or fuzzy; got {kind!r}")
        return [self._fuzzy_rule(node, names) for node in order]

    def _fuzzy_rule(self, node: int, names: list[str]) -> FuzzyRule:
        used = self._bounds[self._bounds[:, 0] == node, 1].astype(np.intp).tolist()
        half = FUNCTIONS[self.function].half
        numeric = np.flatnonzero(~self.nominal_).tolist()
        conditions = []
        for j in used:
            if self.nominal_[j]:
                shares = self._shares[list(self.levels_).index(j)][node]
                order = np.argsort(-shares, kind="stable")
                most = {str(self.levels_[j][code]): float(shares[code] / shares.max()) for code in order.tolist()}
                conditions.append(FuzzyCondition(names[j], shares={k: v for k, v in most.items() if v >= 0.05}))
            else:
                place = numeric.index(j)
                centre, deviation = self.centres_[node, place], self.deviations_[node, place]
                conditions.append(FuzzyCondition(names[j], float(centre), half * float(deviation)))
        return FuzzyRule(tuple(conditions), self.classes_[self.labels_[node]], float(self.members_[node]))

    def _learn_units(self, rows: FloatArray, weight: FloatArray) -> None:
        """Mean and deviation of each numeric column."""
        numbers = rows[:, ~self.nominal_]
        known = ~np.isnan(numbers)
        total = np.maximum(weight @ known, np.finfo(float).tiny)
        with np.errstate(over="ignore", invalid="ignore"):
            largest = np.where(known, np.abs(numbers), 0.0).max(axis=0, initial=0.0)
            shares = known * weight[:, None] / total
            self._middle = (np.where(known, numbers, 0.0) * shares).sum(axis=0)
            apart = np.where(known, numbers - self._middle, 0.0)
            widest = np.abs(apart).max(axis=0, initial=0.0)
            if not np.isfinite(widest).all():
                raise TamisError("fsm: differences overflow on values this large; scale the columns first")
            # Rounding of a constant is no spread.
            flat = widest <= 1e-12 * largest
            unit = np.where(flat, 1.0, widest)
            spread = np.sqrt(((apart / unit) ** 2 * shares).sum(axis=0)) * unit
        self._unit = np.where(flat | (spread == 0), 1.0, spread)

    def _table(self, rows: FloatArray) -> Table:
        numbers = (rows[:, ~self.nominal_] - self._middle) / self._unit
        coded = rows[:, self.nominal_]
        codes = np.where(np.isnan(coded), -1, coded).astype(np.intp)
        return Table(numbers, list(codes.T), [len(levels) for levels in self.levels_.values()])

    def _values(self, table: Table) -> FloatArray:
        """Log of each node's value for each row."""
        centres, deviations = (self.centres_ - self._middle) / self._unit, self.deviations_ / self._unit
        found = np.empty((len(table), self.labels_.size))
        for k, label in enumerate(self.labels_.tolist()):
            shares = [some[k] for some in self._shares]
            node = Node(label, float(self._heights[k]), centres[k], deviations[k], shares)
            found[:, k] = node.log_values(table, self.function)
        return found

    def _decision(self, X: Matrix) -> FloatArray:
        shares = np.empty((X.shape[0], self.classes_.shape[0]))
        for some in gen_batches(X.shape[0], max(1, _BLOCK // X.shape[1])):
            values = self._values(self._table(dense_rows(X[some], "fsm")))
            shares[some] = evidence(values, self.labels_.tolist(), self.classes_.shape[0], self.combine)
        return np.asarray(softmax(shares, axis=1))
