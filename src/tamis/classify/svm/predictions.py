"""What support vector machines say of new rows; those fitted on the same rows share the products with them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from tamis.base.classifier import one_vs_one
from tamis.base.types import FloatArray, Matrix
from tamis.margins.kernel import GROUNDS, apply, ground, inner_products

if TYPE_CHECKING:
    from tamis.classify.svm.svm import SVM

#: Kernel values that are held at a time.
_BLOCK = 4_000_000


def decisions(models: Sequence["SVM"], X: Matrix) -> list[FloatArray]:
    """Evidence of each model for the rows of `X`, in the form of a classifier's ``_decision``.

    Parameters
    ----------
    models : sequence of SVM
        Fitted on the same rows; or a single one.
    X : array or CSR matrix
    """
    found: dict[int, FloatArray] = {}
    kinds: dict[str, list[int]] = {}
    for place, model in enumerate(models):
        kinds.setdefault("linear" if model.kernel_ == "linear" else GROUNDS[model.kernel_], []).append(place)
    for kind, places in kinds.items():
        some = [models[place] for place in places]
        found.update(zip(places, (_linear if kind == "linear" else _by_kernel)(some, X), strict=True))
    return [_evidence(model, found[place]) for place, model in enumerate(models)]


def _evidence(model: "SVM", pairs: FloatArray) -> FloatArray:
    pairs = pairs + model.intercept_
    return pairs[:, 0] if pairs.shape[1] == 1 else one_vs_one(pairs, model.classes_.shape[0])


def _linear(models: Sequence["SVM"], X: Matrix) -> list[FloatArray]:
    together = inner_products(X, np.concatenate([model.coef_ for model in models]))
    return np.split(together, len(models), axis=1)


def _by_kernel(models: Sequence["SVM"], X: Matrix) -> list[FloatArray]:
    """For kernels that rest on the same: one product with the rows that bear weight in any model."""
    rows, vectors = _bearing(models)
    columns = [np.searchsorted(rows, model.support_) for model in models]
    found = [np.empty((X.shape[0], model.intercept_.shape[0])) for model in models]
    height = max(1, _BLOCK // rows.shape[0])
    for top in range(0, X.shape[0], height):
        block = ground(models[0].kernel_, X[top : top + height], vectors)
        for model, places, out in zip(models, columns, found, strict=True):
            own = block if places.shape[0] == rows.shape[0] else block[:, places]
            width = getattr(model, "sigma_", 1.0)
            values = apply(model.kernel_, own, sigma=width, degree=model.degree, coef0=model.coef0)
            out[top : top + height] = values @ model.dual_coef_
    return found


def _bearing(models: Sequence["SVM"]) -> tuple[np.ndarray, Matrix]:
    """Numbers, in order, of the training rows that bear weight in any model, and these rows, each once."""
    if len(models) == 1:
        return models[0].support_, models[0].support_vectors_
    rows = np.empty(0, dtype=np.intp)
    parts = []
    for model in models:
        new = ~np.isin(model.support_, rows)
        rows = np.concatenate([rows, model.support_[new]])
        parts.append(model.support_vectors_[new])
    order = np.argsort(rows)
    vectors: Matrix = sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
    return rows[order], vectors[order]
