"""The versions of all that decides an answer."""

import platform
from importlib.metadata import version

_LIBRARIES = ("tamis", "numpy", "scipy", "scikit-learn")


def made_with() -> dict[str, str]:
    """The versions of this library, of Python and of the libraries on which answers depend, by name."""
    return {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}}
