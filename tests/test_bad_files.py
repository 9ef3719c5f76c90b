"""Malformed files and folders are refused in one sentence that says where and what the fault is."""

from pathlib import Path

import pytest

from bad_files import BAD_FILES
from reading import put
from tamis.base.errors import DataError
from tamis.data.load import load


def test_there_are_many_of_them() -> None:
    assert len(BAD_FILES) >= 40
    assert len({case for case, *_ in BAD_FILES}) == len(BAD_FILES)


@pytest.mark.parametrize(("files", "opened", "piece"), [c[1:] for c in BAD_FILES], ids=[c[0] for c in BAD_FILES])
def test_one_sentence_about_the_file(tmp_path: Path, files: dict[str, bytes], opened: str, piece: str) -> None:
    path = put(tmp_path, files) / opened
    with pytest.raises(DataError) as caught:
        load(path)
    message = str(caught.value)
    assert piece in message
    assert message.startswith(str(path))
    assert len(message.splitlines()) == 1
