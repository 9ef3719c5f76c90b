"""Decisions of support vector machines; those fitted together share the products with new rows."""

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
    """``_decision`` of each of the models, which were fitted on the same rows."""
    found: dict[int, FloatArray] = {}
    kinds: dict[str, list[int]] = {}
    for place, model in enumerate(models):
        kinds.setdefault("linear" if model.kernel_ == "linear" else GROUNDS[model.kernel_], []).append(place)
    for kind, places in kinds.items():
        alike = [models[place] for place in places]
        if kind == "linear":
            ends = np.cumsum([model.coef_.shape[0] for model in alike])
            pairs = np.split(inner_products(X, np.concatenate([model.coef_ for model in alike])), ends[:-1], axis=1)
        else:
            pairs = _by_kernel(alike, X)
        found.update(zip(places, pairs, strict=True))
    pairs = [found[place] + model.intercept_ for place, model in enumerate(models)]
    return [_evidence(model, one) for model, one in zip(models, pairs, strict=True)]


def _evidence(model: "SVM", decisions: FloatArray) -> FloatArray:
    """Decisions on two-class problems as evidence for the classes."""
    if decisions.shape[1] == 1:
        return decisions[:, 0]
    return decisions if model.multiclass == "ovr" else one_vs_one(decisions, model.classes_.shape[0])


def _by_kernel(models: Sequence["SVM"], X: Matrix) -> list[FloatArray]:
    """For kernels of the same inner products or distances: computed once, with the support vectors of all models."""
    rows, vectors = _all_support_vectors(models)
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


def _all_support_vectors(models: Sequence["SVM"]) -> tuple[np.ndarray, Matrix]:
    """Numbers, ascending, of the support vectors of any model, and these rows, each once."""
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
