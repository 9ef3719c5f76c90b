"""Files that nobody meant to write: how they are made, and what every reader owes whoever opens one."""

from collections.abc import Callable, Sequence
from pathlib import Path

from hypothesis import strategies as st

from tamis.base.errors import DataError
from tamis.data.dataset import Dataset
from tamis.data.parsing.reader import Reader, Source


def attempt(read: Callable[[], Dataset], path: Path) -> Dataset | None:
    """What the reader makes of a file; None when it complains, which must be in one sentence about the path."""
    try:
        data = read()
    except DataError as error:
        message = str(error)
    else:
        assert isinstance(data, Dataset)
        return data
    assert message.startswith(str(path))
    assert len(message.splitlines()) == 1
    return None


def survives(reader: Reader, path: Path, content: bytes, target: str | None = None) -> Dataset | None:
    """The same of these bytes, written to the path; a data set that comes back must be whole."""
    path.write_bytes(content)
    assert reader.looks_right(Source(path)) in (True, False)
    data = attempt(lambda: reader.read(Source(path), target), path)
    if data is not None:
        assert data.X.shape == (len(data.y), len(data.feature_names))
    return data


@st.composite
def damaged(draw: st.DrawFn, files: Sequence[bytes]) -> bytes:
    """One of the files with a few bytes changed, added or taken away, or cut short."""
    content = bytearray(draw(st.sampled_from(files)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(content) - 1, 0)))
        match draw(st.sampled_from(("change", "change", "flip", "insert", "delete", "cut"))):
            case "change":
                content[at : at + 1] = draw(st.binary(min_size=1, max_size=1))
            case "flip" if content:
                content[at] ^= 1 << draw(st.integers(0, 7))
            case "insert":
                content[at:at] = draw(st.binary(min_size=1, max_size=4))
            case "delete":
                del content[at : at + draw(st.integers(1, 8))]
            case "cut":
                del content[at:]
    return bytes(content)
