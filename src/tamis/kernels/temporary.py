"""Temporary files that name their owner, so that a later process removes what a killed one left behind.

A process that ends in order removes its files itself. One that is killed cannot, and where its helpers are killed with
it (a container, a batch system, the process group) nobody else does. So every name carries an owner::

    tamis-<place>-<boot>-<pid>-<start>-<random>

`place` stands for the name of the machine and its table of processes, `boot` for the time since it was started, and
`start` is when the process began, because a number of a process is used again. Only files of the same user and the same
place are ever removed: the processes of another machine, which may share the folder, and of another container cannot be
seen from here. Where the system does not tell the start of a process, any process of that number counts as the owner.
"""

import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

#: Shared memory as a folder.
SHARED_MEMORY = "/dev/shm"

_PREFIX = "tamis-"

#: Bytes of a name that leave room for an owner; file systems take 255.
_LONGEST = 180

#: The marks of an owner in a name.
_OWNER = re.compile(r"([0-9a-f]{12})-([0-9a-f]{8})-(\d+)-(\d+)")

#: Semaphores of loky and folders of joblib, which carry the number of the process that made them.
_COMPANION = re.compile(r"(?:sem\.loky-|loky-|joblib_memmapping_folder_)(\d+)[-_].*", re.DOTALL)


class Owner(NamedTuple):
    """A process, recognized after its end; the fields are the parts of a name."""

    place: str
    boot: str
    pid: int
    start: int

    def __str__(self) -> str:
        return f"{self.place}-{self.boot}-{self.pid}-{self.start}"

    @classmethod
    def this(cls) -> "Owner":
        """The process that calls."""
        pid = os.getpid()
        return cls(*_machine(), pid, _start(pid) or 0)

    @classmethod
    def of(cls, text: str) -> "Owner | None":
        """The owner that a text begins with, if it names one."""
        found = _OWNER.match(text)
        return None if found is None else cls(found[1], found[2], int(found[3]), int(found[4]))

    @property
    def is_dead(self) -> bool:
        """Whether the process has surely ended; of another place it is never known."""
        place, boot = _machine()
        if os.name != "posix" or self.place != place:
            return False
        if self.boot != boot:
            return True
        start = _start(self.pid)
        return start is None or (self.start != 0 and start not in (0, self.start))


@contextmanager
def temporary_folder(root: str | None = None) -> Iterator[Path]:
    """A folder that is removed at the end of the block, or by a later process when this one is killed."""
    folder = make_folder(root)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_folder(root: str | None = None) -> Path:
    """A new folder in `root`, by default that of temporary files; what dead processes left is removed first."""
    remove_left()
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{Owner.this()}-", dir=root))


@cache
def mark() -> None:
    """Keep a folder until this process ends: it tells a later one whose semaphores it finds. Once is enough."""
    atexit.register(shutil.rmtree, make_folder(), ignore_errors=True)


def remove_left(roots: list[str] | None = None) -> list[Path]:
    """Remove what dead processes of this user left in the folders of temporary files.

    With the folder of a dead process go the semaphores and folders that joblib made for it. They carry a number of a
    process only, so they stay as long as any process has it.

    Returns
    -------
    list of Path
        What was removed.
    """
    if os.name != "posix":
        return []
    names = [(root, name) for root in dict.fromkeys(_roots() if roots is None else roots) for name in _names(root)]
    left = {}
    for root, name in names:
        owner = Owner.of(name.removeprefix(_PREFIX)) if name.startswith(_PREFIX) else None
        if owner is not None and _is_own(Path(root, name)) and owner.is_dead:
            left[Path(root, name)] = owner
    removed: list[Path] = []
    if left:
        _, boot = _machine()
        gone = {owner.pid for owner in left.values() if owner.boot == boot and _start(owner.pid) is None}
        for root, name in names:
            found = _COMPANION.fullmatch(name)
            if found is not None and int(found[1]) in gone and _is_own(Path(root, name)):
                removed += _remove(Path(root, name))
    # Last, because they tell whose the others are.
    for folder in left:
        removed += _remove(folder)
    return removed


def partial_name(path: Path) -> Path:
    """The name under which this process writes a file before it replaces `path`; those of the dead are removed."""
    short = path.name if len(os.fsencode(path.name)) <= _LONGEST else blake2b(os.fsencode(path.name)).hexdigest()
    prefix = f".{short}."
    for name in _names(str(path.parent)):
        if name.startswith(prefix):
            owner, other = Owner.of(name.removeprefix(prefix)), path.with_name(name)
            if owner is not None and str(owner) == name.removeprefix(prefix) and owner.is_dead and _is_own(other):
                _remove(other)
    return path.with_name(f"{prefix}{Owner.this()}")


def _roots() -> list[str]:
    named = [os.environ["JOBLIB_TEMP_FOLDER"]] if "JOBLIB_TEMP_FOLDER" in os.environ else []
    with suppress(FileNotFoundError):  # there is no folder for temporary files
        named.append(tempfile.gettempdir())
    return [*named, SHARED_MEMORY]


def _names(root: str) -> list[str]:
    try:
        return os.listdir(root)
    except OSError:
        return []


def _is_own(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return found.st_uid == os.geteuid()


def _remove(path: Path) -> list[Path]:
    """What was removed: the path, or nothing, where another process was quicker or it cannot be removed."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
        return [path]
    return []


@cache
def _machine() -> tuple[str, str]:
    """The place and the boot, as they stand in names."""
    name = os.uname().nodename if hasattr(os, "uname") else ""
    try:
        processes = os.readlink("/proc/self/ns/pid")
    except OSError:
        processes = ""
    place = "\n".join((name, _text("/etc/machine-id"), processes))
    boot = _text("/proc/sys/kernel/random/boot_id")
    return blake2b(place.encode(), digest_size=6).hexdigest(), blake2b(boot.encode(), digest_size=4).hexdigest()


def _start(pid: int) -> int | None:
    """When a process began, in the units of the system; 0 if that is unknown, None if there is no such process."""
    if os.name != "posix":  # where asking for a process could end it
        return 0
    stat = _text(f"/proc/{pid}/stat")
    if stat:
        # The name of the command, in parentheses, may hold anything.
        fields = stat.rpartition(")")[2].split()
        return None if fields[0] in ("Z", "X") else int(fields[19])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:  # of another user
        pass
    return 0


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""
