"""One mutated input of a kind and what comes of it: it is used, or refused in one sentence; all else is a finding."""

import random
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

from benchmarks.fuzz.mutations import damaged, mangled, tampered
from benchmarks.fuzz.samples import RECIPES, files, rows
from tamis.base.errors import TamisError
from tamis.base.predictions import predict_rows
from tamis.compose.model_file import load_model
from tamis.compose.recipe import recipe, to_text
from tamis.data import Reading, load

#: What an attempt ends with beside a finding, which is a text of its own.
USED, REFUSED = "used", "refused"

#: From the seed of one input to its outcome.
Attempt = Callable[[random.Random], str]


def attempt_of(kind: str, folder: Path) -> Attempt:
    """The attempts of a kind; `folder` holds the model files, and takes the mutated ones."""
    if kind == "recipe":
        return _recipe
    if kind == "model":
        return _models(sorted((folder / "models").iterdir()), folder)
    return _reader(kind, files()[kind], folder)


def kinds() -> list[str]:
    """All kinds of inputs."""
    return [*files(), "recipe", "model"]


def outcome(attempt: Attempt, draw: random.Random) -> str:
    """Used, refused, or the finding: the last line of the traceback and where it was raised."""
    # An error in a recipe shows the recipe, and points to the place.
    most_lines = 3 if attempt is _recipe else 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return attempt(draw)
        except TamisError as error:
            text = str(error)
            if isinstance(error.__context__, MemoryError):
                return f"memory: {text[:200]}"
            return REFUSED if len(text.splitlines()) <= most_lines else f"several lines: {text[:200]!r}"
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # whatever it is, it is a finding
            place = traceback.extract_tb(error.__traceback__)
            own = next((one for one in reversed(place) if "/tamis/" in one.filename), place[-1])
            reason = str(error).partition("\n")[0]
            where = f"{Path(own.filename).name}:{own.lineno}, {Path(place[-1].filename).name}:{place[-1].lineno}"
            return f"{type(error).__name__}: {reason[:150]} ({where})"


def _reader(kind: str, samples: list[tuple[str, bytes]], folder: Path) -> Attempt:
    target = {"geo": "tissue"}.get(kind)
    reading = Reading(labels=str(folder / "labels.csv")) if kind == "gct" else Reading()
    (folder / "labels.csv").write_text("sample,class\ns1,x\ns2,y\ns3,x\n")

    def attempt(draw: random.Random) -> str:
        name, content = draw.choice(samples)
        path = folder / name
        path.write_bytes(damaged(draw, content, draw.choice(samples)[1]))
        if kind == "challenge":
            labels = b"-1\n1\n1\n"
            (folder / "t_train.labels").write_bytes(damaged(draw, labels, b"") if draw.random() < 0.3 else labels)
        data = load(path, target, reading=reading)
        if data.X.shape != (len(data.y), len(data.feature_names)):
            raise AssertionError("a data set whose parts differ in length")
        return USED

    return attempt


def _recipe(draw: random.Random) -> str:
    text = mangled(draw, draw.choice(RECIPES), draw.choice(RECIPES))
    # What is built is written as a text that builds it again.
    built = to_text(recipe(text))
    if to_text(recipe(built)) != built:
        raise AssertionError(f"a recipe that is another one when it is written again: {text!r}")
    return USED


def _models(paths: list[Path], folder: Path) -> Attempt:
    X, _ = rows()
    for path in paths:
        # What is compiled or loaded once for all models is no time of the one that comes first.
        load_model(path)

    def attempt(draw: random.Random) -> str:
        content = draw.choice(paths).read_bytes()
        path = folder / "bad.tamis"
        path.write_bytes(damaged(draw, content, b"") if draw.random() < 0.1 else tampered(draw, content))
        model, card = load_model(path)
        if len(card.columns) == X.shape[1]:
            predict_rows(model, X[:4])
        return USED

    return attempt
