"""Every page that tamis writes, of data with hostile names: nothing runs, nothing is asked for, nothing can be."""

import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import polars as pl
import pytest

import tamis
from browser import chromium, needs_chromium, opened
from tamis.data.csv_text import Escaped, csv_text, escaped
from tamis.data.dataset import Dataset
from tamis.data.write import write
from tamis.genes import Expression, find_markers
from tamis.outliers.explain import explain
from tamis.outliers.highdod import HighDOD
from tamis.reporting.facts import data_facts, validated_facts
from tamis.reporting.figure_description import Axis, Figure, Panel
from tamis.reporting.figure_description import Series as Line
from tamis.reporting.figures_page import figures_page
from tamis.reporting.genes_page import write_genes_page
from tamis.reporting.html import write_page
from tamis.reporting.outlier_page import write_outlier_page
from tamis.reporting.series_page import write_choice
from tamis.series.choice import choose_variables
from tamis.series.planted import planted
from tamis.series.series import Series

#: Markup and formulas that would ask `{url}` for something, or run.
NAMES = (
    '"><img src="{url}/a">',
    "<script>fetch('{url}/b')</script>",
    "</script><script src={url}/c></script>",
    "<link rel=stylesheet href={url}/d>",
    "</style><style>@import url({url}/e);body{{background:url({url}/f)}}</style>",
    "<iframe src={url}/g></iframe>",
    "<meta http-equiv=refresh content='0;{url}/h'>",
    "<svg onload=fetch('{url}/i')><image href={url}/j /></svg>",
    '=WEBSERVICE("{url}/k")',
    "-1+cmd|'/C calc'!A0",
)


class Counter(BaseHTTPRequestHandler):
    """Answers nothing and counts."""

    asked: list[str]

    def do_GET(self):
        self.asked.append(self.path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    """An address, and the requests that came in."""
    asked = []
    made = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Counter,), {"asked": asked}))
    Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}", asked
    made.shutdown()
    made.server_close()


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("playwright", reason="playwright is absent: pip install playwright")
    with chromium() as found:
        yield found


def hostile(url):
    rng = np.random.default_rng(0)
    names = [name.format(url=url) for name in NAMES]
    y = np.repeat(names[:2], 20)
    X = rng.normal(size=(40, len(names)))
    X[:, 2] += 3 * (y == names[1])
    X[0, 3:5] = 30.0
    frame = dict(zip(names, X.T, strict=True))
    frame["<b>town</b>"] = [names[i % 3] for i in range(40)]
    return Dataset(
        pl.DataFrame(frame), y, np.array([*frame]), names[0], row_names=np.array([names[i % 9] for i in range(40)])
    )


def validation(url, path):
    data = hostile(url)
    write_page(validated_facts(tamis.validate("encode | cc(3) | knn(3)", data, folds=3), data, command=url), path)


def search(url, path):
    tamis.mine(hostile(url), trials=4, only=["encode | cc | knn"], inner_folds=2, engine="serial").report(path)


def series(url, path):
    made = planted(24, 3, 20)
    names = [name.format(url=url) for name in NAMES[:3]]
    write_choice(
        choose_variables(Series.of(made.items, made.y, variables=names, name=names[0]), folds=3, inner_folds=3), path
    )


def genes(url, path):
    names = [name.format(url=url) for name in NAMES[:2]]
    values = [[9.0, 90.0], [50.0, 51.0]]
    data = Expression.of(values, times=[4, 4], conditions=["mock", names[1]], genes=names)
    write_genes_page(find_markers(data, normalize=False), path)


def paper(title, caption, label, axis):
    panel = Panel(Axis(axis), Axis(label), [Line([1, 2], [0.5, 0.25], line=True, label=label)])
    return figures_page(title, [Figure("error", title, caption, (4, 3), [panel])], [caption])


PAGES = {
    "describe": lambda url, path: write_page(data_facts(hostile(url), command=url), path),
    "validate": validation,
    "mine": search,
    "series": series,
    "genes": genes,
    "outliers": lambda url, path: write_outlier_page(
        explain(hostile(url), [1, 2], model=HighDOD(2, random_state=0)), path
    ),
    "reproduce": lambda url, path: path.write_text(paper(*(name.format(url=url) for name in NAMES[:4]))),
}

#: Ways of a script that got in after all; each gives a promise.
TRIES = """url => Promise.allSettled([
  fetch(url + '/fetch'),
  new Promise(done => { const one = new Image(); one.onload = one.onerror = done; one.src = url + '/image'; }),
  new Promise(done => { const one = document.createElement('script');
    one.onload = one.onerror = done; one.src = url + '/script'; document.body.append(one); }),
  new Promise(done => { const one = document.createElement('link'); one.rel = 'stylesheet';
    one.onload = one.onerror = done; one.href = url + '/style'; document.head.append(one); }),
  Promise.resolve(navigator.sendBeacon(url + '/beacon')),
  new Promise(done => { const one = document.createElement('iframe'); one.src = url + '/frame';
    document.body.append(one); setTimeout(done, 300); }),
]).then(() => true)"""


@needs_chromium
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", PAGES)
def test_a_page_asks_for_nothing_and_cannot(browser, server, tmp_path, kind):
    url, asked = server
    page = tmp_path / "page.html"
    PAGES[kind](url, page)
    text = page.read_text(encoding="utf-8")
    (rules,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text.replace("&#39;", "'"))
    assert rules.startswith("default-src 'none'; script-src ")
    assert not re.search(r"https?:|\*|unsafe-eval|script-src[^;]*unsafe", rules)
    # It stands in front of whatever it is to forbid.
    assert text.index("Content-Security-Policy") < re.search(r"<style|<script", text).start()
    asked.clear()
    with opened(browser, page) as seen:
        seen.draw_all()
        if kind == "reproduce":
            seen.page.locator("svg.main-svg").first.wait_for(state="attached", timeout=20_000)
        assert seen.page.locator("svg").count() >= 1
        assert (seen.errors, seen.dialogs, seen.requests, asked) == ([], [], [page.as_uri()], [])
        assert seen.page.evaluate(TRIES, url)
        assert asked == []
    # The same tries reach the server where no page forbids them.
    if kind == "genes":
        plain = tmp_path / "plain.html"
        plain.write_text("<!DOCTYPE html><body></body>")
        with opened(browser, plain) as seen:
            seen.page.evaluate(TRIES, url)
        assert {"/fetch", "/image", "/script", "/style", "/frame"} <= set(asked)


# ---------------------------------------------------------------- CSV

FORMULAS = ["=1+1", "+1+1", "-1+1", "@sum(A1)", "\t=1", "\r=1", '=cmd|"x"', "-x"]
NUMBERS = ["-1.5", "+2", "-1e-05", "-.5", "-1,5", "-inf", "-5%", "-", "+", "=", "1-2", "a=b", "", "x@y"]


@pytest.mark.parametrize("value", FORMULAS)
def test_a_formula_becomes_text(value):
    with pytest.warns(Escaped, match="2 texts"):
        made = escaped(pl.DataFrame({value: [value, "plain", None]}))
    assert made.columns == [f"'{value}"]
    assert made[made.columns[0]].to_list() == [f"'{value}", "plain", None]


def test_numbers_and_other_texts_stay():
    frame = pl.DataFrame({"text": NUMBERS, "number": np.linspace(-1, 1, len(NUMBERS))})
    assert escaped(frame) is frame
    assert csv_text(frame) == frame.write_csv()


def test_names_that_would_collide_stay_apart():
    with pytest.warns(Escaped):
        assert escaped(pl.DataFrame({"=a": [1], "'=a": [2]})).columns == ["''=a", "'=a"]


@pytest.mark.filterwarnings("ignore::tamis.data.csv_text.Escaped")
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_every_table_that_is_written_is_safe(tmp_path, ending):
    y = np.array(["=1+1", "ok"] * 6)
    data = Dataset(np.random.default_rng(0).normal(size=(12, 2)), y, np.array(["@x", "-1"]))
    write(data, tmp_path / f"a{ending}")
    read = pl.read_csv(tmp_path / f"a{ending}")
    assert read.columns == ["'@x", "-1", "class"]
    assert set(read["class"]) == {"'=1+1", "ok"}
    assert read["-1"].dtype == pl.Float64


@pytest.mark.filterwarnings("ignore::tamis.data.csv_text.Escaped")
def test_predictions_and_markers_are_safe(tmp_path):
    from tamis.compose.model_file import card_of, save_model

    y = np.array(["=1+1", "ok"] * 6)
    data = Dataset(np.random.default_rng(0).normal(size=(12, 2)), y, np.array(["a", "b"]))
    fitted = tamis.recipe("knn(1)").fit(data.X, data.y)
    save_model(tmp_path / "m", fitted, card_of(fitted, data, recipe="knn(1)"))
    tamis.predict(tmp_path / "m", data).write_csv(tmp_path / "p.csv")
    assert set(pl.read_csv(tmp_path / "p.csv")["class"]) == {"'=1+1", "ok"}
    values = [[9.0, 90.0], [50.0, 51.0]]
    found = find_markers(
        Expression.of(values, times=[4, 4], conditions=["mock", "flu"], genes=["=g+1", "g2"]), normalize=False
    )
    found.write_table(tmp_path / "genes.csv")
    assert set(pl.read_csv(tmp_path / "genes.csv")["gene"]) <= {"'=g+1", "g2"}
