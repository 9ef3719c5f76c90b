"""What tests share: where real data is, folders made for them, and a fixed profile for property tests."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# For the processes of the soak alone: it makes their files stall.
collect_ignore = ["stalling_files"]

settings.register_profile("tamis", deadline=None, derandomize=True, max_examples=50)
# Other examples every time: pytest --hypothesis-profile=explore --hypothesis-seed=1
settings.register_profile("explore", deadline=None, max_examples=50)
settings.load_profile("tamis")

# What JAX has compiled is kept from run to run and shared by the processes of one, as numba's kernels are.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).resolve().parents[1] / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")

#: Tests of other processes, of kills and of limits of time wait more than they compute.
WAITING = {
    "test_cold_start.py",
    "test_engine.py",
    "test_engine_dask.py",
    "test_mine_dask.py",
    "test_store_processes.py",
    "test_parallel.py",
}

#: Files that take longest. With those that wait they come first, so that at the end no process is busy alone.
LONG = {
    "test_common.py",
    "test_importance.py",
    "test_mine.py",
    "test_mine_cli.py",
    "test_permutation.py",
    "test_plan.py",
    "test_report_figures.py",
    "test_report_html.py",
}


SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first."""
    items.sort(key=lambda item: (item.path.name not in WAITING, item.path.name not in LONG))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file goes to one process, which makes its fixtures once; files that wait share a process, beside busy ones."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "waiting" if Path(file).name in WAITING else file

    return ByFile(config, log)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real data sets; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("TAMIS_DATA", SHARED))
    if not folder.is_dir():
        absent = "the folder of real data sets is absent (set TAMIS_DATA)"
        pytest.fail(absent) if os.environ.get("TAMIS_DATA_REQUIRED") else pytest.skip(absent)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all tests of a file: property tests write to it again and again."""
    return tmp_path_factory.mktemp("folder")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of named data sets."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("TAMIS_DATA", str(folder))
    return folder


@pytest.fixture
def no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder of named data sets at all."""
    monkeypatch.delenv("TAMIS_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def tamis(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command in this process: exit code, standard output, standard error."""
    from tamis.cli import main as cli

    def run(*arguments: Any) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tamis", *map(str, arguments)])
        monkeypatch.setattr(cli, "_noted", set())
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return (int(ended.value.code or 0), *capsys.readouterr())

    return run
