"""Lasso: least squares with a penalty on the absolute weights."""

from typing import Any, ClassVar, Literal

import numpy as np

from tamis.base.part import Part
from tamis.base.search_range import geom
from tamis.regress.elastic_net.elastic_net import ElasticNet


class Lasso(ElasticNet):
    """Linear prediction from few columns: least squared error plus a penalty on the absolute weights.

    It minimises, over weights w and an intercept b that is not penalised::

        sum_i (y_i - w.x_i - b)^2 / (2 n) + a |w|_1

    for the target in units of its deviation and a penalty a, which sets most weights to 0.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        The penalty a, as a share of the smallest that sets all weights to 0; "auto" selects it by cross-validation.
        As for :class:`~tamis.regress.elastic_net.elastic_net.ElasticNet`, and so are the others.
    cv : int, default=5
    caution : float, default=0.0
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    used_ : bool array of shape (n_features,)
        The columns with a weight.
    share_, alpha_ : float
        The penalty in use, as a share of the highest and as it is, which is `alpha` of scikit-learn's ``Lasso`` for the
        target in units of its deviation.
    shares_, cv_r2_ : arrays
        With ``alpha="auto"``: as for :class:`~tamis.regress.elastic_net.elastic_net.ElasticNet`.

    See Also
    --------
    ElasticNet : Shares the weight between columns that vary together.

    References
    ----------
    Tibshirani (1996), "Regression shrinkage and selection via the lasso".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.regress import Lasso
    >>> X = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> model = Lasso(alpha=0.25).fit(X, [7.0, 11.0, 7.0, 11.0])
    >>> model.coef_.round(6), model.used_
    (array([1.5, 0. ]), array([ True, False]))
    """

    part: ClassVar[Part] = Part(
        "lasso",
        positional=("alpha",),
        search={"alpha": geom(3e-3, 0.8)},
        paper="Tibshirani 1996",
        phrase="the lasso",
        counterpart="logistic",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: takes for name, takes in ElasticNet._parameter_constraints.items() if name != "l1_ratio"
    }
    #: Only the absolute weights are penalised.
    l1_ratio = 1.0

    def __init__(
        self,
        alpha: float | Literal["auto"] = "auto",
        *,
        cv: int = 5,
        caution: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.alpha = alpha
        self.cv = cv
        self.caution = caution
        self.random_state = random_state
