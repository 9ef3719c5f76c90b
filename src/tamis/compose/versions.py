"""The versions of all that decides a prediction."""

import platform
from importlib.metadata import version


def made_with() -> dict[str, str]:
    """The versions of tamis, Python and the libraries on which predictions depend, by name."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"tamis": version("tamis"), "python": platform.python_version(), **libraries}
