"""A notebook as a user writes it: the answer, the figure, the progress and the help are in its outputs."""

from typing import Any
from xml.etree import ElementTree

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

DATA = """
import numpy as np, polars as pl, tamis
rng = np.random.default_rng(0)
y = np.repeat(["ill", "well"], 30)
X = rng.normal(size=(60, 20))
X[:, 7] += 2 * (y == "ill")
frame = pl.DataFrame({"<b>gene</b>" if i == 7 else f"g{i}": X[:, i] for i in range(20)})
quick = {"trials": 4, "only": ["cc | knn(metric=minkowski)"], "engine": "serial", "folds": 2, "inner_folds": 2}
"""

#: The stop button sends this signal.
STOPPED = """
import os, signal, threading
threading.Timer(3.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    tamis.mine(frame, y, budget="60s", only=["{cc, ssv} | {knn, svm(linear)}"], engine="serial")
except KeyboardInterrupt:
    print("interrupted")
"""

CELLS = [
    DATA,
    "found = tamis.mine(frame, y, **quick)\nfound",
    "found.plot()",
    "tamis.mine(frame, y, progress=False, **quick).features",
    "tamis.validate('cc(2) | knn(3)', frame, y, folds=3)",
    "print(get_ipython().object_inspect_text('tamis.mine', 0))",
    STOPPED,
]


@pytest.fixture(scope="module")
def outputs() -> list[list[Any]]:
    """The outputs of every cell."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    nbclient.NotebookClient(book, timeout=240, kernel_name="python3").execute()
    return [cell["outputs"] for cell in book.cells]


def one(kind: str, outputs: list[Any]) -> Any:
    """The only output of a kind; a kernel that is compiled also writes to standard error."""
    (found,) = [output for output in outputs if output["output_type"] == kind]
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_notebook_shows_answer_figure_progress_and_help(outputs: list[list[Any]]) -> None:
    nothing, search, figure, silent, validation, text, stopped = outputs
    assert nothing == []
    progress, answer = one("display_data", search), one("execute_result", search)
    assert progress["data"]["text/html"].startswith("<small>searched 0:")
    assert answer["data"]["text/plain"].startswith("Mined: BER 0.")
    html = answer["data"]["text/html"]
    ElementTree.fromstring(html)
    assert "&lt;b&gt;gene&lt;/b&gt;" in html
    assert "<b>gene" not in html
    assert "application/vnd.plotly.v1+json" in one("display_data", figure)["data"]
    assert "<b>gene</b>" in one("execute_result", silent)["data"]["text/plain"]
    assert not [output for output in silent if output["output_type"] == "display_data"]
    assert "<svg" in one("execute_result", validation)["data"]["text/html"]
    assert "Search for the complex model" in text[0]["text"]
    assert "budget" in text[0]["text"]
    assert stopped[-1]["text"] == "interrupted\n"
    assert one("display_data", stopped)["data"]["text/html"].endswith("; stopped</small>")
