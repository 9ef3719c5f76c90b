"""Private names of scikit-learn are imported in one file alone, which says of each why it is needed."""

import ast
from pathlib import Path

import pytest

import tamis
from tamis.base import _sklearn

SOURCE = Path(tamis.__file__).parent


def private_names(source: str) -> list[str]:
    """The private modules and names of scikit-learn that a module imports, or reaches as attributes."""
    found, names = [], {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "sklearn":
            found += [f"{node.module}.{one.name}" for one in node.names]
            names |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            ours = [one for one in node.names if one.name.split(".")[0] == "sklearn"]
            found += [one.name for one in ours]
            names |= {one.asname or "sklearn": one.name if one.asname else "sklearn" for one in ours}
    for node in ast.walk(ast.parse(source)):
        path, inner = [], node
        while isinstance(inner, ast.Attribute):
            path.append(inner.attr)
            inner = inner.value
        if path and isinstance(inner, ast.Name) and inner.id in names:
            found.append(".".join([names[inner.id], *reversed(path)]))
    return [name for name in found if any(part.startswith("_") and part[:2] != "__" for part in name.split("."))]


@pytest.mark.parametrize(
    "source",
    [
        "from sklearn.utils import check_array, _safe_indexing",
        "from sklearn.utils._param_validation import Interval",
        "import sklearn.tree._tree",
        "def late():\n    from sklearn.datasets import _openml as client",
        "import sklearn as s\ns.utils._safe_indexing(X, rows)",
        "from sklearn import datasets\ndatasets._openml.urlopen = None",
    ],
)
def test_private_names_are_seen(source) -> None:
    assert private_names(source)


@pytest.mark.parametrize(
    "source",
    [
        "from sklearn.utils import check_array as _check",
        "from tamis.base._sklearn import Interval, _safe_indexing",
        "import sklearn\nsklearn.__version__",
        "from sklearn.svm import SVC\nself._fitted = SVC()",
    ],
)
def test_others_are_not(source) -> None:
    assert not private_names(source)


def test_one_file_imports_private_names() -> None:
    found = {str(path.relative_to(SOURCE)): private_names(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}
    assert [path for path, names in found.items() if names] == [str(Path("base", "_sklearn.py"))]


def test_every_private_name_is_explained() -> None:
    assert [name for name in _sklearn.__all__ if f"`{name}`" not in _sklearn.__doc__] == []
