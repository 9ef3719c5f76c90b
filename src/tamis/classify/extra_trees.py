"""Extra trees: the average of trees whose splits are the best of a few random ones."""

from typing import ClassVar

from sklearn.ensemble import ExtraTreesClassifier

from tamis.base.classifier import WeightedClassifier
from tamis.base.part import Part
from tamis.classify.forest import SEARCH, ClassificationTrees


class ExtraTrees(ClassificationTrees, WeightedClassifier):
    """Average of trees whose splits are the best of a few columns, each with one threshold drawn at random.

    As :class:`~tamis.classify.forest.Forest`, but every tree sees all rows, and a split's threshold is drawn uniformly
    within the range of the column in the node. It is scikit-learn's ``ExtraTreesClassifier``.

    Parameters
    ----------
    n_estimators, max_features, min_samples_leaf, class_weight, random_state
        As for :class:`~tamis.classify.forest.Forest`.

    Attributes
    ----------
    classes_ : array
    model_ : sklearn.ensemble.ExtraTreesClassifier
    used_ : bool array of shape (n_features,)
        The columns that any tree splits.
    feature_importances_ : array of shape (n_features,)
        As for :class:`~tamis.classify.forest.Forest`.

    Notes
    -----
    A row of weight 2 counts like the row twice, except in `min_samples_leaf`, which counts rows. Missing values may
    come as they are in dense data.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import ExtraTrees
    >>> X = np.array([[1.0, 7.0], [2.0, 7.0], [5.0, 7.0], [6.0, 7.0]])
    >>> model = ExtraTrees(20, random_state=0).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[0.0, 0.0], [9.0, 0.0]])
    array(['a', 'b'], dtype='<U1')
    """

    part: ClassVar[Part] = Part(
        "extra_trees",
        positional=("n_estimators",),
        search=SEARCH,
        paper="Geurts, Ernst and Wehenkel 2006",
        phrase="{n_estimators} extremely randomized trees",
        slow=True,
        scale_invariant=True,
    )
    _forest = ExtraTreesClassifier
