"""The rooms of parts hold parts and nothing else, and `base` stays small."""

from pathlib import Path

import pytest

import tamis
from tamis.base.part import estimators, members
from tamis.bins.method import Binning
from tamis.scores import all_scores

SOURCE = Path(tamis.__file__).parent
ROOMS = ("scores", "select", "classify", "regress", "transform", "discretize")


def parts_of(room: str) -> set[str]:
    """The words under which the parts of a room are known."""
    methods = {value.name for _, value in members(f"tamis.{room}") if isinstance(value, Binning)}
    words = {cls.part.name for cls in estimators(f"tamis.{room}").values()}
    return words | methods | (set(all_scores) if room == "scores" else set())


def listed(room: Path) -> set[str]:
    """What a look into the folder of a room shows."""
    return {path.stem for path in room.iterdir() if not path.name.startswith("__")}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_of_parts_lists_its_parts_and_nothing_else(room: str) -> None:
    assert listed(SOURCE / room) == parts_of(room)


def test_a_helper_beside_the_parts_is_noticed(tmp_path: Path) -> None:
    for name in [*parts_of("transform"), "helper"]:
        (tmp_path / f"{name}.py").touch()
    assert listed(tmp_path) - parts_of("transform") == {"helper"}


def test_base_is_small() -> None:
    assert len(list((SOURCE / "base").glob("*.py"))) <= 25
