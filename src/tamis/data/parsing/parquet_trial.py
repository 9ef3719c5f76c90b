"""Try a Parquet file in another process first, one for many files.

A wrong length in a damaged file can make the library request exabytes and abort the process, read memory that is not
its own, or wait for ever. No exception handler sees that, so another process reads the file first. It starts with the
first file and takes about as long as the reading itself for each that follows. Its start is an import of the library,
0.12 seconds of the processor. The loader begins it before this process makes its own imports, so that both run at once.
"""

import atexit
import os
import select
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

#: Endings of the names of Parquet files.
ENDINGS = (".parquet", ".pq")

#: Seconds a trial may take, and bytes of the file for which it may take one more.
_PATIENCE, _PACE = 20.0, 1 << 20
#: Seconds the process waits for another file before it ends, and to start on a busy machine.
_IDLE, _START = 30, 120.0
#: After a larger file the process ends, to give its memory back.
_LARGE = 1 << 26

_LIVE, _GOOD, _BAD, _PANIC = b"l", b"g", b"b", b"p"

#: It reads "content SIZE" and the bytes, or "file BATCHES PATH", and writes one letter for each. It ends with its
#: parent: its input does. Nothing in it may need more memory than the machine has.
_CODE = f"""
import os, select, sys
import polars
try:
    import resource
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (min(total, int(sys.argv[1])),) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, OSError, ValueError):
    pass
def content(size):
    polars.read_parquet(sys.stdin.buffer.read(int(size)))
def file(batches, path):
    rows = polars.scan_parquet(path, glob=False)
    height = rows.select(polars.len()).collect().item()
    step = max(1, height // int(batches))
    for start in range(0, height, step):
        rows.slice(start, step).collect()
def say(letter):
    sys.stdout.buffer.write(letter)
    sys.stdout.buffer.flush()
say({_LIVE!r})
while True:
    if os.name == "posix" and not select.select([sys.stdin.buffer], [], [], {_IDLE})[0]:
        break
    line = os.fsdecode(sys.stdin.buffer.readline()).rstrip("\\n")
    if not line:
        break
    kind, _, rest = line.partition(" ")
    try:
        content(rest) if kind == "content" else file(*rest.split(" ", 1))
    except Exception:
        say({_BAD!r})
    except BaseException:
        say({_PANIC!r})
    else:
        say({_GOOD!r})
"""

#: Bytes of address space a trial may take at most, where the machine does not set the limit.
_MOST_MEMORY = 1 << 46


class _Trials:
    """The other process, started when it is needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        #: Whether the process has written its first letter.
        self._is_live = False

    def start(self) -> None:
        """Start the other process, unless it runs, and do not wait for it."""
        with self._lock:
            if not self._is_warm():
                self._begin()

    def succeed(self, request: bytes, content: bytes, size: int) -> bool:
        """Whether the other process can do as requested."""
        with self._lock:
            for _ in range(2):
                idle = self._is_warm() and self._is_live
                letter = self._tried(request, content, size)
                # One that was idle, or did not get as far as this file, ended for a reason of its own.
                if letter or (self._is_live and not idle):
                    break
            if letter not in (_GOOD, _BAD) or size > _LARGE:
                # After a panic, locks of the library may stay closed.
                self.end()
            return letter == _GOOD

    def end(self) -> None:
        """End the process, if there is one of this process's own."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            # It may end with something still to be written to it.
            with suppress(OSError):
                cast(IO[bytes], pipe).close()

    def _begin(self) -> None:
        self.end()
        self._process, self._owner, self._is_live = _started(), os.getpid(), False

    def _is_warm(self) -> bool:
        if self._process is None or self._owner != os.getpid():
            return False
        return self._process.poll() is None

    def _tried(self, request: bytes, content: bytes, size: int) -> bytes:
        """The letter of a trial; none where the process died or took too long."""
        if not self._is_warm():
            self._begin()
        if not self._is_live:
            if self._letter(_START) != _LIVE:
                self.end()
                return b""
            self._is_live = True
        process = self._process
        assert process is not None
        assert process.stdin is not None
        # A process that neither reads nor ends is ended by the clock, while this one writes.
        clock = threading.Timer(_PATIENCE + size / _PACE, process.kill)
        clock.start()
        try:
            process.stdin.write(request)
            process.stdin.write(content)
            process.stdin.flush()
            letter = self._letter(None)
        except OSError:
            letter = b""
        finally:
            clock.cancel()
        if not letter:
            self.end()
        return letter

    def _letter(self, seconds: float | None) -> bytes:
        assert self._process is not None
        pipe = cast(IO[bytes], self._process.stdout)
        if seconds is not None and os.name == "posix" and not select.select([pipe], [], [], seconds)[0]:
            return b""
        return pipe.read(1)


def _started() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _CODE, str(_MOST_MEMORY)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Control-C is for the process in front, which ends this one.
        start_new_session=True,
    )


_trials = _Trials()
atexit.register(_trials.end)


def expect(path: "str | os.PathLike[str]") -> None:
    """Start the other process for a file that is about to be loaded, if its name is that of a Parquet file."""
    if os.fspath(path).lower().removesuffix(".gz").endswith(ENDINGS) and os.path.isfile(path):
        _trials.start()


def content_is_readable(content: bytes) -> bool:
    """Whether another process can read the content of a file.

    Examples
    --------
    >>> content_is_readable(b"PAR1PAR1")
    False
    """
    return _trials.succeed(b"content %d\n" % len(content), content, len(content))


def file_is_readable(path: Path, batches: int) -> bool:
    """Whether another process can read a file in a number of batches."""
    name = os.fsencode(path.absolute())
    # The end of a line ends a request.
    if b"\n" in name:
        return content_is_readable(path.read_bytes())
    return _trials.succeed(b"file %d %s\n" % (batches, name), b"", path.stat().st_size)
