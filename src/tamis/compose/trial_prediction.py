"""Whether a loaded model predicts: it is tried on rows of ones, and on rows of zeros, before anybody relies on it."""

import warnings
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.predictions import predict_rows
from tamis.compose.model_card import Card
from tamis.compose.sound import UnsoundError

#: Numbers that a trial row is made of; some transforms take no zeros, and some no value that was not in training.
_VALUES = (1.0, 0.0)


def check_prediction(model: Any, card: Card) -> None:
    """Try a loaded model on a few equal rows at a time; raises :class:`UnsoundError` where it fails on all of them.

    What contradicts itself in the state of a model, such as weights of fewer columns than the data has or fewer classes
    than the card lists, shows here and not in the middle of a prediction. An error in plain words about the row
    (:class:`tamis.base.errors.TamisError`) is an answer. A model takes a row in a fraction of the time in which it was
    fitted. :func:`tamis.compose.sound.check_sound` comes first.
    """
    failure = ""
    for value in _VALUES:
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                _try(model, card, _rows(card, value))
        except TamisError:
            return
        except MemoryError:
            raise
        except Exception as error:  # foreign state can make any line of a library fail
            failure = failure or f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"[:200]
        else:
            return
    raise UnsoundError(f"it fails on rows of {_VALUES[0]:g} ({failure})")


def _n_rows(card: Card) -> int:
    """More than one row, and not as many as classes or pairs of them, whose arrays would fit by chance."""
    return max(2 * len(card.classes) + 1, 3)


def _rows(card: Card, value: float) -> Any:
    """Rows with the value in every column of numbers, and the first level in nominal ones."""
    n_rows = _n_rows(card)
    if card.nominal:
        first = {name: levels[0] for name, levels in card.levels.items() if levels}
        cells = {name: first.get(name, "") if kind == "nominal" else value for name, kind in card.columns.items()}
        return pl.DataFrame({name: [cell] * n_rows for name, cell in cells.items()})
    rows = np.full((n_rows, len(card.columns)), value)
    return sp.csr_array(rows) if "word" in card.columns.values() else rows


def _try(model: Any, card: Card, rows: Any) -> None:
    n_rows = _n_rows(card)
    if not hasattr(model, "predict"):
        if model.transform(rows).shape[0] != n_rows:
            raise ValueError("it returns another number of rows")
        return
    predicted = predict_rows(model, rows)
    if np.shape(predicted.labels)[:1] != (n_rows,):
        raise ValueError("it returns another number of predictions")
    shares = predicted.probabilities
    if card.task == "classify" and shares is not None and shares.shape != (n_rows, len(card.classes)):
        raise ValueError("its probabilities are not those of its classes")
