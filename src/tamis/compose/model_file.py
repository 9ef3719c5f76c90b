"""Model files: one archive of the fitted estimator and its card, which loads without running code."""

import json
import os
import warnings
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import skops.io
from sklearn.base import is_regressor

from tamis.base.errors import DataError, TamisError
from tamis.compose.model_card import Card, CardError, card_of
from tamis.compose.sound import UnsoundError, check_sound
from tamis.compose.trial_prediction import check_prediction
from tamis.compose.trusted import RefusedError, check_types, trusted_types
from tamis.compose.versions import made_with
from tamis.data.parsing.reader import read_bytes
from tamis.data.write import whole

__all__ = ["Card", "card_of", "load_model", "save_model"]

_MODEL, _CARD = "model.skops", "card.json"


def save_model(path: str | os.PathLike[str], model: Any, card: Card) -> None:
    """Write a fitted model and its card to a file, whole or not at all.

    A model that holds a function or an untrusted type, and so could not be loaded again, is refused.

    Parameters
    ----------
    path : str or path
    model : fitted estimator
    card : Card
        From :func:`card_of`.

    See Also
    --------
    load_model : Reads the file.

    Examples
    --------
    >>> from tamis.compose.recipe import recipe, to_text
    >>> from tamis.data import load
    >>> data = load("xor")
    >>> model = recipe("cc(5) | knn(3)").fit(data.X, data.y)
    >>> folder = getfixture("tmp_path")
    >>> save_model(folder / "xor.tamis", model, card_of(model, data))
    >>> model, card = load_model(folder / "xor.tamis")
    >>> to_text(model), len(card.uses), card.classes
    ('cc(5) | knn(3)', 5, [-1, 1])
    """
    path = Path(path)
    described = card.to_json()
    try:
        packed = skops.io.dumps(model)
        check_types(packed)
    except RefusedError as refusal:
        raise TamisError(f"{path}: the model cannot be saved: it {refusal}") from None
    except Exception as error:
        raise TamisError(f"{path}: the model cannot be saved ({str(error).partition('. ')[0]})") from error
    with whole(path) as partial, ZipFile(partial, "w", ZIP_STORED) as archive:
        archive.writestr(_CARD, described)
        archive.writestr(_MODEL, packed)


def load_model(path: str | os.PathLike[str]) -> tuple[Any, Card]:
    """Load the fitted model and the card of a file that :func:`save_model` wrote.

    The file need not be trusted: it can hold the estimators of the catalog and of scikit-learn and their arrays.
    Anything else is refused before it is made, and nothing named in the file is called. So is what would take far more
    memory than the file, and a model whose parts contradict each other, or which fails on a plain row. Warns when
    the file was written with other versions of the libraries on which predictions depend.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    model : fitted estimator
    card : Card

    See Also
    --------
    save_model : Writes the file.
    tamis.compose.align_columns.align_columns : New rows in the model's order of columns.
    """
    path = Path(path)
    raw = read_bytes(path)
    try:
        members = _members(raw)
        card = Card.from_json(members[_CARD])
        check_types(members[_MODEL])
        with warnings.catch_warnings():
            # The card's versions are compared instead.
            warnings.simplefilter("ignore")
            model = skops.io.loads(members[_MODEL], trusted=trusted_types())
        check_sound(model)
        _check_fit(model, card)
        check_prediction(model, card)
    except (CardError, RefusedError, UnsoundError) as refusal:
        unsound = "its model cannot be used: " if isinstance(refusal, UnsoundError) else ""
        raise DataError(f"{path}: {unsound}{refusal}") from None
    except skops.io.exceptions.UntrustedTypesFoundException as refusal:
        reason = str(refusal).partition("\n")[0].rstrip(".")
        raise DataError(f"{path}: is not loaded ({reason[0].lower()}{reason[1:]})") from None
    except MemoryError:
        raise DataError(f"{path}: its model needs more memory than there is") from None
    except Exception:  # whatever fails on foreign bytes, the file is at fault
        raise DataError(f"{path}: its model is damaged, or was not written by tamis") from None
    _compare_versions(path, card)
    return model, card


def _members(raw: bytes) -> dict[str, bytes]:
    """The card and the model in the file."""
    try:
        with ZipFile(BytesIO(raw)) as archive:
            names = sorted(member.filename for member in archive.infolist())
            stray = [name for name in names if name not in (_CARD, _MODEL)]
            if stray:
                raise RefusedError(f"holds {stray[0][:100]!r}, which is no part of a model file")
            if names != [_CARD, _MODEL]:
                raise RefusedError(f"is not a model file, which holds {_CARD} and {_MODEL} once each")
            if any(member.compress_type != ZIP_STORED for member in archive.infolist()):
                raise RefusedError("is packed in another way than models are")
            return {name: archive.read(name) for name in names}
    except (BadZipFile, EOFError, OSError, ValueError, NotImplementedError):
        raise RefusedError("is not a model file, or it is damaged or cut short") from None


def _check_fit(model: Any, card: Card) -> None:
    """Refuse a card that is not the model's."""
    if not hasattr(model, "get_params") or not (hasattr(model, "predict") or hasattr(model, "transform")):
        raise RefusedError("holds no model")
    if getattr(model, "n_features_in_", len(card.columns)) != len(card.columns):
        raise RefusedError(f"its card has {len(card.columns)} columns and its model {model.n_features_in_}")
    if ("regress" if is_regressor(model) else "classify") != card.task:
        raise RefusedError("its card and its model are of different tasks")
    classes = [] if card.task == "regress" or not hasattr(model, "predict") else model.classes_.tolist()
    if hasattr(model, "predict") and json.loads(json.dumps(classes)) != card.classes:
        raise RefusedError("its card and its model have different classes")


def _compare_versions(path: Path, card: Card) -> None:
    here, saved = made_with(), card.versions
    differ = [name for name in here if name != "python" and saved.get(name) != here[name]]
    if differ:
        then, now = (", ".join(f"{name} {found.get(name, '?')}" for name in differ) for found in (saved, here))
        warnings.warn(f"{path}: was saved with {then}; here is {now}, and predictions may differ", stacklevel=3)
