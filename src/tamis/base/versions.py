"""The versions of all that decides an answer."""

import platform
from importlib.metadata import version

from tamis import __version__

_LIBRARIES = ("numpy", "scipy", "scikit-learn")


def made_with() -> dict[str, str]:
    """The versions of this library, of Python and of the libraries on which answers depend, by name."""
    libraries = {name: version(name) for name in _LIBRARIES}
    return {"tamis": __version__, "python": platform.python_version(), **libraries}
