"""A model in a file: one archive of the fitted estimator and its card, which can be loaded without running code."""

import json
import os
import warnings
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import skops.io

from tamis.base.errors import DataError, TamisError
from tamis.compose.model_card import Card, CardError, card_of
from tamis.compose.sound import UnsoundError, check_sound
from tamis.compose.trusted import RefusedError, check_types, trusted_types
from tamis.compose.versions import made_with
from tamis.data.write import whole

__all__ = ["Card", "card_of", "load_model", "save_model"]

_MODEL, _CARD = "model.skops", "card.json"


def save_model(path: str | os.PathLike[str], model: Any, card: Card) -> None:
    """Write a fitted model and its card to a file, which appears whole or not at all.

    A model that could not be loaded again, because it holds a function or a type that is not trusted, is refused.

    Parameters
    ----------
    path : str or path
    model : fitted estimator
    card : Card
        As :func:`card_of` makes it.

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
    told = card.to_json()
    try:
        packed = skops.io.dumps(model)
        check_types(packed)
    except RefusedError as refusal:
        raise TamisError(f"{path}: the model cannot be saved: it {refusal}") from None
    except Exception as error:
        raise TamisError(f"{path}: the model cannot be saved ({str(error).partition('. ')[0]})") from error
    with whole(path) as partial, ZipFile(partial, "w", ZIP_STORED) as archive:
        archive.writestr(_CARD, told)
        archive.writestr(_MODEL, packed)


def load_model(path: str | os.PathLike[str]) -> tuple[Any, Card]:
    """The fitted model and the card of a file that :func:`save_model` wrote.

    A file from anywhere may be given: what it can hold is the estimators of the catalog and of scikit-learn and the
    arrays in them. Everything else is refused before it is made, and nothing that the file says is called.

    Warns when the file was written with other versions of the libraries on which answers depend.
    """
    path = Path(path)
    raw = _content(path)
    try:
        members = _members(raw)
        card = Card.from_json(members[_CARD])
        check_types(members[_MODEL])
        model = _made(members[_MODEL])
        _check_fit(model, card)
    except (CardError, RefusedError, UnsoundError) as refusal:
        said = f"its model cannot be used: {refusal}" if isinstance(refusal, UnsoundError) else str(refusal)
        raise DataError(f"{path}: {said}") from None
    except skops.io.exceptions.UntrustedTypesFoundException as refusal:
        said = str(refusal).partition("\n")[0].rstrip(".")
        raise DataError(f"{path}: is not loaded ({said[0].lower()}{said[1:]})") from None
    except MemoryError:
        raise DataError(f"{path}: its model needs more memory than there is") from None
    except Exception:  # whatever is made of foreign bytes, the file is at fault
        raise DataError(f"{path}: its model is damaged, or was not written by tamis") from None
    _compare_versions(path, card)
    return model, card


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a folder, not a file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def _members(raw: bytes) -> dict[str, bytes]:
    """The two parts of the file."""
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


def _made(packed: bytes) -> Any:
    with warnings.catch_warnings():
        # Other versions are told of once, by the card.
        warnings.simplefilter("ignore")
        model = skops.io.loads(packed, trusted=trusted_types())
    check_sound(model)
    return model


def _check_fit(model: Any, card: Card) -> None:
    """Refuse a card that is not the model's."""
    if not hasattr(model, "get_params") or not (hasattr(model, "predict") or hasattr(model, "transform")):
        raise RefusedError("holds no model")
    if getattr(model, "n_features_in_", len(card.columns)) != len(card.columns):
        raise RefusedError(f"its card tells of {len(card.columns)} columns and its model of {model.n_features_in_}")
    if hasattr(model, "predict") and json.loads(json.dumps(model.classes_.tolist())) != card.classes:
        raise RefusedError("its card and its model tell of different classes")


def _compare_versions(path: Path, card: Card) -> None:
    here = made_with()
    other = [f"{name} {card.versions.get(name, '?')}" for name in here if name != "python"]
    mine = [f"{name} {here[name]}" for name in here if name != "python"]
    differ = [(then, now) for then, now in zip(other, mine, strict=True) if then != now]
    if differ:
        then, now = (", ".join(pair) for pair in zip(*differ, strict=True))
        warnings.warn(f"{path}: was saved with {then}; here is {now}, and answers may differ", stacklevel=3)
