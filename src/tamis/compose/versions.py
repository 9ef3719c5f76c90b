"""The versions of all that decides an answer."""

import platform
from importlib.metadata import version


def made_with() -> dict[str, str]:
    """The versions of this library, of Python and of the libraries on which answers depend, by name."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"tamis": version("tamis"), "python": platform.python_version(), **libraries}
