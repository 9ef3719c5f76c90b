"""The Parquet reader: what polars writes comes back, and damaged files cannot bring the process down."""

import datetime
import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bad_tables import GOOD_PARQUET, parquet
from fuzzing import damaged, survives
from reading import reads
from tamis.base.errors import DataError
from tamis.data.parsing.parquet_trial import _Trials, expect
from tamis.data.parsing.reader import Source
from tamis.data.readers.parquet import reader

read = reads(reader, "toy.parquet")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@given(
    rows=st.lists(
        st.tuples(
            st.floats(allow_infinity=False) | st.none(),
            st.integers(-(2**31), 2**31 - 1) | st.none(),
            texts.map("w{}".format) | st.none(),
        ),
        min_size=1,
        max_size=8,
    ),
    names=st.lists(texts.map("n{}".format), min_size=3, max_size=3, unique=True),
    compression=st.sampled_from(("uncompressed", "zstd", "snappy")),
)
@settings(max_examples=15)
def test_reads_what_polars_writes(
    folder: Path, rows: list[tuple[float | None, int | None, str | None]], names: list[str], compression: str
) -> None:
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    frame = pl.DataFrame(columns, schema=dict(zip(names, (pl.Float64, pl.Int64, pl.String), strict=True)))
    classes = [number % 3 for number in range(len(rows))]
    content = parquet({**frame.to_dict(), "class": classes}, compression=compression)
    data = read(folder, content)
    assert data.feature_names.tolist() == names
    assert data.y.tolist() == classes
    kept = frame.cast({names[1]: pl.Float64}).with_columns(pl.col(names[0]).fill_nan(None))
    if any(row[2] for row in rows):
        assert data.X.equals(kept)
    else:
        np.testing.assert_array_equal(data.X, kept.cast(pl.Float64).to_numpy())


def test_kinds_of_columns(folder: Path) -> None:
    columns = {
        "small": pl.Series([1, None, 3], dtype=pl.UInt8),
        "half": pl.Series([0.5, None, 1.5], dtype=pl.Float32),
        "money": pl.Series(["1.25", "2.50", None]).cast(pl.Decimal(10, 2)),
        "flag": [True, False, None],
        "sort": pl.Series(["p", "q", None], dtype=pl.Categorical),
        "rank": pl.Series(["lo", "hi", None], dtype=pl.Enum(["lo", "hi"])),
        "void": [None, None, None],
        "kind": ["x", "y", "x"],
    }
    data = read(folder, gzip.compress(parquet(columns)), "kind", "toy.parquet.gz")
    assert data.X.rows() == [
        (1.0, 0.5, 1.25, 1.0, "p", "lo", None),
        (None, None, 2.5, 0.0, "q", "hi", None),
        (3.0, 1.5, None, None, None, None, None),
    ]
    assert data.nominal.tolist() == [False, False, False, False, True, True, False]
    assert (data.name, data.target) == ("toy", "kind")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (datetime.date(2003, 12, 8), "Date"),
        (datetime.datetime(2003, 12, 8, 9, 30), "Datetime"),
        (datetime.time(9, 30), "Time"),
        (datetime.timedelta(days=1), "Duration"),
        ([1.0, 2.0], "List"),
        ({"p": 1}, "Struct"),
        (b"\x00", "Binary"),
    ],
)
def test_columns_that_are_neither_numbers_nor_text(folder: Path, value: object, kind: str) -> None:
    with pytest.raises(DataError, match=rf"toy\.parquet, column 'odd one': has type {kind}, which is neither"):
        read(folder, parquet({"a": [1.0], "odd one": [value], "class": ["x"]}))


def test_the_content_tells_the_format(folder: Path) -> None:
    for content, answer in ((GOOD_PARQUET, True), (gzip.compress(GOOD_PARQUET), True), (b"PAR2", False), (b"", False)):
        (folder / "unnamed").write_bytes(content)
        assert reader.looks_right(Source(folder / "unnamed")) is answer
    assert not reader.looks_right(Source(folder / "absent"))


def lie_about_a_page(content: bytes) -> bytes:
    """The content with the count of values in the first page made negative, for which polars asks for exabytes."""
    at = content.index(b"\x15\x06", 4)
    return content[:at] + b"\x15\x01" + content[at + 2 :]


def test_a_file_that_would_abort_the_process(folder: Path) -> None:
    content = parquet({"a": ["p", "q", None], "class": ["x", "y", "x"]}, compression="uncompressed", statistics=False)
    with pytest.raises(DataError, match=r"toy\.parquet: is a damaged Parquet file"):
        read(folder, lie_about_a_page(content))


@given(content=st.binary(max_size=60))
@settings(max_examples=150)
def test_any_bytes_give_data_or_an_error(folder: Path, content: bytes) -> None:
    survives(reader, folder / "toy.parquet", content)


def fuzz(examples: int) -> Callable[[Path], None]:
    files = [GOOD_PARQUET, parquet({"a": [0.5, 1.5], "b": [True, None], "class": [1, 2]}, compression="uncompressed")]
    # Damage that leaves the first and last bytes alone is damage that polars gets to see.
    inner = damaged([file[4:-4] for file in files]).map(lambda content: b"PAR1" + content + b"PAR1")

    @given(content=inner)
    @settings(max_examples=examples)
    def check(folder: Path, content: bytes) -> None:
        survives(reader, folder / "toy.parquet", content)

    return check


test_damaged_files_give_data_or_an_error = fuzz(20)
test_many_damaged_files_give_data_or_an_error = pytest.mark.slow(fuzz(300))


@pytest.fixture
def trials() -> Iterator[_Trials]:
    """A process of its own for the trials of a test."""
    found = _Trials()
    yield found
    found.end()


def tried(trials: _Trials, content: bytes) -> bool:
    return trials.succeed(b"content %d\n" % len(content), content, len(content))


def test_one_process_tries_many_files(trials: _Trials) -> None:
    assert tried(trials, GOOD_PARQUET)
    first = trials._process
    assert not tried(trials, GOOD_PARQUET[:4] + GOOD_PARQUET[40:])
    assert tried(trials, GOOD_PARQUET)
    assert trials._process is first is not None


def test_a_trial_process_that_died_is_replaced(trials: _Trials) -> None:
    assert tried(trials, GOOD_PARQUET)
    first = trials._process
    assert first is not None
    first.kill()
    assert tried(trials, GOOD_PARQUET)
    assert trials._process is not first


def test_a_trial_that_hangs_is_ended(trials: _Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(trials, GOOD_PARQUET)
    monkeypatch.setattr("tamis.data.parsing.parquet_trial._PATIENCE", 0.1)
    assert trials._process is not None
    # A process that is stopped neither answers nor dies; one that replaces it has as little time.
    os.kill(trials._process.pid, signal.SIGSTOP)
    monkeypatch.setattr("tamis.data.parsing.parquet_trial._CODE", HANGS)
    assert not tried(trials, GOOD_PARQUET)
    assert trials._process is None


def test_a_process_that_was_started_early_serves_or_is_replaced(trials: _Trials) -> None:
    trials.start()
    first = trials._process
    assert first is not None
    trials.start()
    assert tried(trials, GOOD_PARQUET)
    assert trials._process is first
    trials.end()
    trials.start()
    second = trials._process
    assert second is not None
    second.kill()
    assert tried(trials, GOOD_PARQUET)


def test_a_file_that_ends_the_process_is_tried_once(trials: _Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    from tamis.data.parsing import parquet_trial

    made, started = [], parquet_trial._started
    monkeypatch.setattr(parquet_trial, "_started", lambda: made.append(started()) or made[-1])
    monkeypatch.setattr(parquet_trial, "_CODE", "import sys; print(end='l', flush=True); sys.stdin.readline()")
    trials.start()
    assert not tried(trials, GOOD_PARQUET)
    assert len(made) == 1
    monkeypatch.setattr(parquet_trial, "_CODE", "raise SystemExit")
    assert not tried(trials, GOOD_PARQUET)
    assert len(made) == 3


EARLY = """
import sys
from tamis.data.parsing import parquet_trial
start, seen = parquet_trial._Trials.start, []
def noted(trials):
    seen.append({"numpy", "polars"} & set(sys.modules))
    start(trials)
    seen.append(trials._process.pid)
parquet_trial._Trials.start = noted
LOAD
assert seen[:2] == [set(), parquet_trial._trials._process.pid], seen
"""


@pytest.mark.parametrize(
    "load",
    [
        "from tamis import load; load({path!r})",
        "from tamis.cli.main import app; app(['data', {path!r}], standalone_mode=False)",
    ],
    ids=["load", "command"],
)
def test_the_process_starts_before_this_one_imports(load: str, folder: Path) -> None:
    path = folder / "toy.PARQUET"
    path.write_bytes(GOOD_PARQUET)
    code = EARLY.replace("LOAD", load.format(path=str(path)))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_only_files_with_the_name_of_parquet_are_expected(trials: _Trials, folder: Path, monkeypatch) -> None:
    monkeypatch.setattr("tamis.data.parsing.parquet_trial._trials", trials)
    (folder / "toy.csv").write_bytes(GOOD_PARQUET)
    (folder / "folder.parquet").mkdir()
    for name in ("toy.csv", "folder.parquet", "absent.parquet"):
        expect(folder / name)
        assert trials._process is None
    (folder / "toy.pq.gz").write_bytes(b"")
    expect(str(folder / "toy.pq.gz"))
    assert trials._process is not None


HANGS = "import sys, time; sys.stdout.write('l'); sys.stdout.flush(); time.sleep(60)"


def test_the_trial_process_ends_with_its_parent() -> None:
    code = (
        "import os, sys; from tamis.data.parsing import parquet_trial as t; "
        "t.content_is_readable(b'PAR1PAR1'); print(t._trials._process.pid, flush=True); os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    pid = int(done.stdout)
    for _ in range(100):
        if not is_alive(pid):
            break
        time.sleep(0.05)
    assert not is_alive(pid)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
