"""Reports as a user asks for them: from a search to a page and back, and refusals in one sentence."""

import json
import shlex
import shutil
import sqlite3
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.cli import main as cli
from tamis.reporting.facts import VERSION

#: Names that would do something if they were taken for anything but text.
SCRIPT, PICTURE, ENTITY = "<script>alert(1)</script>", "<img src=x onerror=alert(2)>", "a &lt; b & c"
END, LONG, TURNED, EMOJI = "</script><b>", "long " * 60 + "name", "\u202eלהקה", "🌷🌹"


def flowers(names: list[str], classes: tuple[str, str], target: str = "kind") -> pl.DataFrame:
    """Noise, but the first column tells the class."""
    rng = np.random.default_rng(3)
    kind = np.arange(72) % 2
    columns = {name: rng.normal(size=72).round(4) for name in names}
    columns[names[0]] = (columns[names[0]] + 1.8 * kind).round(4)
    return pl.DataFrame({**columns, target: np.array(classes)[kind]})


@pytest.fixture(scope="session")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table and all that a search of it leaves."""
    folder = tmp_path_factory.mktemp("searched")
    flowers([f"g{i}" for i in range(10)], ("rose", "tulip")).write_csv(folder / "flowers.csv")
    typed = "mine flowers.csv --target kind --trials 12 --folds 3 --inner-folds 3 --engine serial --without committee"
    typed += " --without blend"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["tamis", *typed.split(), "--try", "cc | knn"])
        with pytest.raises(SystemExit) as ended:
            cli.main()
    assert not ended.value.code
    return folder


@pytest.fixture
def garden(searched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it that may be spoilt."""
    folder = tmp_path / "garden"
    shutil.copytree(searched, folder)
    monkeypatch.chdir(folder)
    return folder


class Page(HTMLParser):
    """The facts of a page, the elements it has, and what it shows."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.shown = ""
        self.inside = ""
        self.feed(file.read_text(encoding="utf-8"))
        self.facts: dict[str, Any] = json.loads(self.scripts[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside != "style":
            self.shown += data


def refused(found: tuple[int, str, str], *words: str) -> None:
    """One sentence that says so, and nothing else."""
    code, out, said = found
    assert code == 2
    assert out == ""
    assert said.startswith("tamis: ")
    assert said.count("\n") == 1
    assert "Traceback" not in said
    for word in words:
        assert word in said


def change_facts(run: str, text: str) -> None:
    """Write something else where a run keeps the facts of its report."""
    connection = sqlite3.connect(run)
    changed = connection.execute("UPDATE notes SET value = ? WHERE name = 'facts'", (text,))
    assert changed.rowcount == 1
    connection.commit()
    connection.close()


# ---------------------------------------------------------------- a search and its report


def test_a_search_writes_its_report_and_keeps_the_facts(tamis: Any, garden: Path) -> None:
    page = Page(garden / "flowers.tamis-report.html")
    code, out, _ = tamis("report", "flowers.tamis-run", "--json")
    assert code == 0
    facts = json.loads(out)
    assert facts["version"] == VERSION
    for panel in ("made", "data", "answer", "honesty", "story"):
        assert page.facts[panel] == facts[panel]
    assert page.facts["features"]["table"] == facts["features"]["table"]
    assert page.facts["models"]["rows"]["recipe"] == [row["recipe"] for row in facts["models"]["rows"]]
    assert facts["made"]["command"].startswith("tamis mine flowers.csv --target kind --trials 12")
    assert shlex.split(facts["made"]["command"])[-2:] == ["--try", "cc | knn"]
    # What it says to run can be run.
    for command in facts["answer"]["commands"]:
        typed = shlex.split(command["command"].replace("NEW_DATA", "flowers.csv"))
        assert tamis(*typed[1:])[0] == 0, command


def test_the_number_of_recipes_is_one_number(tamis: Any, garden: Path) -> None:
    facts = json.loads(tamis("report", "flowers.tamis-run", "--json")[1])
    typed = shlex.split(facts["made"]["command"])[1:]
    out = tamis(*typed)[1]
    told = json.loads(tamis(*typed, "--json")[1])
    assert told["tried"] == len(told["leaderboard"]) == facts["models"]["n"] == len(facts["models"]["rows"])
    assert f"the best of {told['tried']} recipes" in out
    assert f"{told['tried']} models evaluated" in Page(garden / "flowers.tamis-report.html").shown
    assert sum({one["stage"]: one["recipes"] for one in facts["story"]["stages"]}.values()) <= told["tried"]


def test_the_search_again_tells_the_same(tamis: Any, garden: Path) -> None:
    before = json.loads(tamis("report", "flowers.tamis-run", "--json")[1])
    (garden / "flowers.tamis-report.html").unlink()
    typed = shlex.split(before["made"]["command"])[1:]
    code, out, _ = tamis(*typed, "--report", "other page.html")
    assert code == 0
    assert "report: other page.html" in out
    assert not (garden / "flowers.tamis-report.html").exists()
    page = Page(garden / "other page.html")
    for panel in ("answer", "honesty", "data"):
        assert page.facts[panel] == before[panel], panel
    after = json.loads(tamis("report", "flowers.tamis-run", "--json")[1])
    assert (after["features"], after["rows"]) == (before["features"], before["rows"])


def test_the_page_is_made_again_from_the_run_alone(tamis: Any, garden: Path) -> None:
    first = (garden / "flowers.tamis-report.html").read_bytes()
    for file in ("flowers.csv", "flowers.tamis-model", "flowers.tamis-report.html"):
        (garden / file).unlink()
    run = (garden / "flowers.tamis-run").read_bytes()
    code, out, said = tamis("report", "flowers.tamis-run")
    assert (code, out, said) == (0, "report: flowers.tamis-report.html\n", "")
    assert (garden / "flowers.tamis-report.html").read_bytes() == first
    assert tamis("report", "flowers.tamis-run", "--out", "page.html")[:2] == (0, "report: page.html\n")
    assert (garden / "page.html").read_bytes() == first
    # Looking at a run does not change it, and nothing is left beside it.
    assert (garden / "flowers.tamis-run").read_bytes() == run
    assert {file.name for file in garden.iterdir()} == {"flowers.tamis-run", "flowers.tamis-report.html", "page.html"}


def test_the_page_is_opened_when_asked(tamis: Any, garden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("typer.launch", opened.append)
    assert tamis("report", "flowers.tamis-run", "--open", "--out", "a page.html")[0] == 0
    assert opened == [f"{garden.as_uri()}/a%20page.html"]


def test_the_report_as_text(tamis: Any, garden: Path) -> None:
    (garden / "flowers.tamis-report.html").unlink()
    code, out, _ = tamis("report", "flowers.tamis-run", "--markdown")
    facts = json.loads(tamis("report", "flowers.tamis-run", "--json")[1])
    assert code == 0
    assert out.startswith("# ")
    assert f"{facts['answer']['honest']['mean']:.3f}" in out
    assert "g0" in out
    assert "tamis predict flowers.tamis-model" in out
    assert not list(garden.glob("*.html"))


def test_the_report_as_figures(tamis: Any, garden: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is absent: pip install tamis[figures]")
    code, out, _ = tamis("report", "flowers.tamis-run", "--figures", "new/figures", "--format", "png")
    assert code == 0
    files = [Path(line) for line in out.splitlines()]
    assert {"features", "projection", "confusion", "roc", "threshold"} <= {file.stem for file in files}
    assert sorted(files) == sorted(Path("new/figures").iterdir())
    assert all(file.suffix == ".png" and file.stat().st_size > 1000 for file in files)


def test_two_runs_side_by_side(tamis: Any, garden: Path) -> None:
    shutil.copy("flowers.tamis-run", "other.tamis-run")
    facts = json.loads(tamis("report", "flowers.tamis-run", "--json")[1])
    facts["title"] = "worse flowers"
    facts["answer"]["honest"] = {"mean": 0.9, "se": 0.01, "low": 0.88, "high": 0.92}
    change_facts("other.tamis-run", json.dumps(facts))
    asked = ("report", "flowers.tamis-run", "--compare", "other.tamis-run")
    assert tamis(*asked, "--out", "both.html")[0] == 0
    page = Page(garden / "both.html")
    beside = page.facts["comparison"]
    assert beside["titles"] == ["flowers", "worse flowers"]
    assert beside["verdict"].startswith("flowers is better: BER")
    assert beside["n_shared"] == facts["answer"]["n_used"]
    assert beside["verdict"] in page.shown
    assert json.loads(tamis(*asked, "--json")[1])["comparison"] == beside
    assert "worse flowers" in tamis(*asked, "--markdown")[1]


# ---------------------------------------------------------------- runs that have no report


def test_a_run_that_is_not_over(tamis: Any, garden: Path) -> None:
    connection = sqlite3.connect("flowers.tamis-run")
    connection.execute("DELETE FROM notes WHERE name = 'facts'")
    connection.commit()
    connection.close()
    (garden / "flowers.tamis-report.html").unlink()
    refused(tamis("report", "flowers.tamis-run"), "flowers.tamis-run: holds no finished search")
    assert not list(garden.glob("*.html"))


@pytest.mark.parametrize("options", [(), ("--json",), ("--markdown",), ("--figures", "figures")])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{ damaged", "facts cannot be read"),
        ("", "facts cannot be read"),
        ("[1, 2]", "holds no finished search"),
        (json.dumps({"version": VERSION + 1}), "another version of tamis"),
        (json.dumps({"kind": "mine"}), "another version of tamis"),
    ],
)
def test_facts_that_are_none(tamis: Any, garden: Path, text: str, words: str, options: tuple[str, ...]) -> None:
    change_facts("flowers.tamis-run", text)
    refused(tamis("report", "flowers.tamis-run", *options), "flowers.tamis-run: ", words)
    assert not list(garden.glob("flowers.tamis-run?*"))
    assert not (garden / "figures").exists()


def test_facts_of_which_a_part_is_lost(tamis: Any, garden: Path) -> None:
    change_facts("flowers.tamis-run", json.dumps({"version": VERSION, "kind": "mine", "title": "flowers"}))
    refused(tamis("report", "flowers.tamis-run"), "flowers.tamis-run: ")
    assert not list(garden.glob("flowers.tamis-run?*"))


@pytest.mark.parametrize("which", ["first", "second"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none.tamis-run", "there is no such run file"),
        ("none/a.tamis-run", "its folder does not exist"),
        ("flowers.csv", "is not a run"),
        ("empty.tamis-run", ""),
        ("cut.tamis-run", ""),
        (".", "is a folder"),
    ],
)
def test_files_that_are_no_run(tamis: Any, garden: Path, name: str, words: str, which: str) -> None:
    (garden / "empty.tamis-run").touch()
    (garden / "cut.tamis-run").write_bytes((garden / "flowers.tamis-run").read_bytes()[:5000])
    before = {file.name: file.read_bytes() for file in garden.iterdir()}
    asked = (name,) if which == "first" else ("flowers.tamis-run", "--compare", name)
    refused(tamis("report", *asked, "--out", "page.html"), f"tamis: {name}: ", words)
    assert {file.name: file.read_bytes() for file in garden.iterdir()} == before


@pytest.mark.parametrize(
    ("command", "out"),
    [
        ("report", "none/page.html"),
        ("report", "flowers.csv/page.html"),
        ("report", "folder"),
        ("validate", "none/page.html"),
        ("describe", "none/page.html"),
        ("mine", "none/page.html"),
    ],
)
def test_a_page_that_cannot_be_written(tamis: Any, garden: Path, command: str, out: str) -> None:
    (garden / "folder").mkdir()
    page = (garden / "flowers.tamis-report.html").read_bytes()
    facts = json.loads(tamis("report", "flowers.tamis-run", "--json")[1])
    typed = {
        "report": ("report", "flowers.tamis-run", "--out", out),
        "validate": ("validate", "flowers.csv", "cc(2) | knn", "--target", "kind", "--report", out, "--json"),
        "describe": ("data", "describe", "flowers.csv", "--target", "kind", "--html", out),
        "mine": (*shlex.split(facts["made"]["command"])[1:], "--report", out, "--json"),
    }
    refused(tamis(*typed[command]), f"tamis: {out}: cannot be written")
    assert not list(garden.rglob(".*"))
    assert not list((garden / "folder").iterdir())
    assert (garden / "flowers.tamis-report.html").read_bytes() == page


def test_an_older_page_stays_when_the_new_one_cannot_be_made(
    tamis: Any, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    (garden / "page.html").write_text("older")
    monkeypatch.setattr(Path, "write_text", full)
    refused(tamis("report", "flowers.tamis-run", "--out", "page.html"), "page.html: cannot be written (No space left")
    assert (garden / "page.html").read_bytes() == b"older"
    assert not list(garden.rglob(".*"))


def test_figures_where_a_file_is(tamis: Any, garden: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is absent: pip install tamis[figures]")
    refused(tamis("report", "flowers.tamis-run", "--figures", "flowers.csv"), "flowers.csv")


# ---------------------------------------------------------------- validation and data


def test_a_validation_with_everything(tamis: Any, garden: Path) -> None:
    asked = ("validate", "flowers.csv", "cc(2) | knn", "--target", "kind", "--folds", 3)
    code, out, _ = tamis(*asked, "--leak-check", "--permutations", 19, "--report", "page.html", "--json")
    assert code == 0
    said = json.loads(out)
    page = Page(garden / "page.html")
    honesty, answer = page.facts["honesty"], page.facts["answer"]
    assert page.facts["kind"] == "validate"
    assert answer["honest"]["mean"] == honesty["leak"]["nested"]["mean"] == said["one"]["metrics"]["ber"]["mean"]
    assert honesty["leak"]["leaky"]["mean"] == said["one"]["leak"]["metrics"]["ber"]["mean"]
    assert honesty["leak"]["optimism"] == pytest.approx(said["one"]["optimism"])
    assert len(honesty["permutation"]["null"]) == 19
    assert honesty["permutation"]["p"] == said["permutations"][0]["pvalue"]
    assert page.facts["made"]["command"].startswith("tamis validate flowers.csv 'cc(2) | knn'")
    assert "Leaky" in page.shown
    assert "Permutation test" in page.shown


def test_a_validation_without_the_extras(tamis: Any, garden: Path) -> None:
    asked = ("validate", "flowers.csv", "cc(2) | knn", "--target", "kind", "--folds", 3)
    code, out, _ = tamis(*asked, "--report", "page.html")
    assert code == 0
    assert out.endswith("report: page.html\n")
    honesty = Page(garden / "page.html").facts["honesty"]
    assert (honesty["leak"], honesty["permutation"]) == (None, None)
    # What it says to run makes the page again.
    first = Page(garden / "page.html").facts
    (garden / "page.html").unlink()
    assert tamis(*shlex.split(first["made"]["command"])[1:])[0] == 0
    again = Page(garden / "page.html").facts
    first["made"]["date"] = again["made"]["date"]
    assert again == first


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("cc({2, 3}) | knn",), "--report takes one recipe; got 2"),
        (("cc(2) | knn", "knn"), "--report takes one recipe; got 2"),
        (("cc({2, 3}) | knn", "--nested"), "--report takes one recipe"),
        (("cc(2) | knn", "--split", "bootstrap"), "--split bootstrap has none"),
    ],
)
def test_reports_of_many_recipes_are_refused(tamis: Any, garden: Path, more: tuple[str, ...], words: str) -> None:
    refused(tamis("validate", "flowers.csv", *more, "--target", "kind", "--report", "page.html"), words)
    assert not (garden / "page.html").exists()


def test_data_alone_has_a_page(tamis: Any, garden: Path) -> None:
    code, out, said = tamis("data", "describe", "flowers.csv", "--target", "kind", "--html", "data.html")
    assert (code, out, said) == (0, "report: data.html\n", "")
    page = Page(garden / "data.html")
    assert page.facts["kind"] == "data"
    described = json.loads(tamis("data", "describe", "flowers.csv", "--target", "kind", "--json")[1])
    assert {key: page.facts["data"][key] for key in described} == described
    assert page.facts["features"]["table"]["name"][0] == "g0"
    assert page.facts["answer"] is None
    assert "The data" in page.shown


def test_data_alone_is_no_run(tamis: Any, garden: Path) -> None:
    tamis("data", "describe", "flowers.csv", "--target", "kind", "--html", "data.html")
    refused(tamis("report", "data.html"), "data.html: is not a run")


# ---------------------------------------------------------------- names that are traps


@pytest.fixture
def traps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A table whose every name would like to be markup, in a file with such a name too."""
    names = [SCRIPT, PICTURE, ENTITY, END, LONG, TURNED, EMOJI, 'quo"ted', "tab\there"]
    classes = (f"rose {SCRIPT}", f"tulip {END}")
    file = tmp_path / "<img src=x onerror=alert(3)> $(touch hit) it's; .csv"
    flowers(names, classes, target="<i>kind</i>").write_csv(file)
    monkeypatch.chdir(tmp_path)
    return SimpleNamespace(names=names, classes=list(classes), file=file.name, target="<i>kind</i>", folder=tmp_path)


def check_page_of_traps(file: Path, traps: Any) -> dict[str, Any]:
    page = Page(file)
    assert sorted(page.facts["features"]["table"]["name"]) == sorted(traps.names)
    assert page.facts["rows"]["classes"] == traps.classes
    assert page.facts["title"] == traps.file.removesuffix(".csv")
    # Only what the page is made of became elements.
    assert page.tags.count("script") == len(page.scripts) == 4
    assert not {"img", "iframe", "object"} & set(page.tags)
    assert not {name for name in page.attributes if name.startswith("on")}
    assert page.facts["title"] in page.shown
    assert traps.classes[0] in page.shown
    return page.facts


def test_traps_in_a_page_of_data(tamis: Any, traps: Any) -> None:
    code, out, _ = tamis("data", "describe", traps.file, "--target", traps.target, "--html", "data.html")
    assert (code, out) == (0, "report: data.html\n")
    check_page_of_traps(traps.folder / "data.html", traps)


def test_traps_in_a_page_of_a_validation(tamis: Any, traps: Any) -> None:
    asked = ("--target", traps.target, "--folds", 3, "--report", "page.html")
    assert tamis("validate", traps.file, "cc(3) | knn", *asked)[0] == 0
    check_page_of_traps(traps.folder / "page.html", traps)


def test_traps_in_a_search_and_in_what_it_says_to_run(tamis: Any, traps: Any) -> None:
    asked = ("--target", traps.target, "--trials", 2, "--folds", 2, "--inner-folds", 2, "--engine", "serial")
    form = ("--try", "cc | knn(metric=minkowski)", "--without", "committee", "--without", "blend")
    assert tamis("mine", traps.file, *asked, *form)[0] == 0
    name = traps.file.removesuffix(".csv")
    facts = check_page_of_traps(traps.folder / f"{name}.tamis-report.html", traps)
    typed = [shlex.split(one["command"]) for one in facts["answer"]["commands"]]
    assert ["tamis", "predict", f"{name}.tamis-model", "NEW_DATA"] in typed
    assert ["tamis", "report", f"{name}.tamis-run"] in typed
    code, out, _ = tamis("report", f"{name}.tamis-run", "--markdown")
    assert code == 0
    assert SCRIPT not in out
    figures = traps.folder / "figures"
    assert tamis("report", f"{name}.tamis-run", "--figures", figures)[0] == 0
    assert all("<script" not in file.read_text(encoding="utf-8") for file in figures.iterdir())
