"""What all tests share: where real data is, and a fixed profile for property tests."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("tamis", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("tamis")

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real data sets; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("TAMIS_DATA", SHARED))
    if not folder.is_dir():
        absent = "the folder of real data sets is absent (set TAMIS_DATA)"
        pytest.fail(absent) if os.environ.get("TAMIS_DATA_REQUIRED") else pytest.skip(absent)
    return folder
