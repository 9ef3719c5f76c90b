"""Write the pages of the API reference: every part with its class and its recipe word, and the doors."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tamis.compose.catalog import Entry, catalog

#: The functions at the door, and what they return.
DOORS = ("load", "rank", "recipe", "validate", "mine", "predict", "report")
RESULTS = (
    "tamis.data.dataset.Dataset",
    "tamis.validation.result.Validation",
    "tamis.validation.many.Validations",
    "tamis.validation.nested.Nested",
    "tamis.validation.learning.LearningCurve",
    "tamis.validation.permutation.PermutationTest",
    "tamis.validation.several.result.LabelsValidation",
    "tamis.mining.mined.Mined",
    "tamis.mining.mined.Offered",
)
MORE = (
    "tamis.validation.many.validate_many",
    "tamis.validation.nested.validate_nested",
    "tamis.validation.permutation.permutation_test",
    "tamis.validation.learning.learning_curve",
    "tamis.validation.several.labels.validate_labels",
    "tamis.compose.each_label.EachLabel",
    "tamis.data.label_sets.LabelSets",
    "tamis.mining.substitutes.find_substitutes",
    "tamis.data.describe.describe",
    "tamis.data.fetch.fetch",
    "tamis.data.probes.add_probes",
)
KINDS = {"transform": "Transforms", "score": "Scores", "selector": "Selectors", "classifier": "Classifiers"}


def write_reference(folder: Path) -> None:
    """Write the pages into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "index.md").write_text("\n".join(_index()), encoding="utf-8")


def _index() -> Iterator[str]:
    yield "# API reference\n"
    yield "Every part is a scikit-learn estimator with a word for recipes; scores rank inside `Ranking`.\n"
    yield "## Functions\n"
    yield from _summary([f"tamis.{name}" for name in DOORS])
    yield "## More functions\n"
    yield from _summary(MORE)
    yield "## Results\n"
    yield from _summary(RESULTS)
    for kind, title in KINDS.items():
        found = [one for one in catalog().values() if one.kind == kind]
        yield f"## {title}\n"
        yield "| recipe word | class | what it does |\n|---|---|---|"
        for one in found:
            yield f"| `{one.name}` | {_reference(one)} | {one.summary} |"
        yield ""
        paths = list(dict.fromkeys(_path(one) for one in found if one.score is None))
        if paths:
            yield from _summary(paths)
    yield "## The ranking behind every score\n"
    yield from _summary(["tamis.select.Ranking"])


def _path(part: Entry) -> str:
    """The public name of the class of a part."""
    room = part.make.__module__.split(".")[1]
    return f"tamis.{room}.{part.make.__qualname__}"


def _reference(part: Entry) -> str:
    if part.score is not None:
        return "{py:obj}`Ranking <tamis.select.Ranking>`" + f'`("{part.name}")`'
    return "{py:obj}`" + f"{part.make.__qualname__} <{_path(part)}>`"


def _summary(paths: Sequence[str]) -> Iterator[str]:
    """The list of some objects, each with a page of its own."""
    yield "```{eval-rst}\n.. autosummary::\n   :toctree: generated\n"
    yield from (f"   {path}" for path in paths)
    yield "```\n"
