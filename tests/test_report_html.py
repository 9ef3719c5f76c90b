"""The report in a real browser: it draws, sorts, finds and prints, asks for nothing, and runs nothing but its own."""

import csv
import html
import json
import re
import time
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from browser import chromium, needs_chromium, opened
from sample_facts import HOSTILE, sample
from tamis.reporting import html as view
from tamis.reporting.display_names import shown as line
from tamis.reporting.html import page
from tamis.reporting.markdown import text

TEMPLATES = Path(view.__file__).with_name("templates")

ALWAYS = ["error_size", "error_features", "stability", "distribution", "selectors", "redundancy"]
ALWAYS += ["heat", "pairs", "projection", "roc", "precision_recall"]
TWO_CLASSES = [*ALWAYS, "threshold", "calibration", "permutation", "stages", "tree"]
MORE_CLASSES = [*ALWAYS, "calibration", "permutation", "stages", "tree"]


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("playwright", reason="playwright is absent: pip install playwright")
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def report(folder):
    """The file of some made-up facts, made once."""

    @cache
    def made(**options):
        file = folder / f"report-{len(list(folder.iterdir()))}.html"
        file.write_text(page(sample(**options)), encoding="utf-8")
        return file

    return made


class Elements(HTMLParser):
    """All elements of a page, and the texts of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.found, self.scripts, self.inside = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] += data

    def named(self, tag):
        return [attributes for found, attributes in self.found if found == tag]


def column(opened_page, table, number):
    """The texts of one column as they are shown."""
    return opened_page.page.locator(f"[data-table={table}] tbody tr > :nth-child({number})").all_inner_texts()


def header(opened_page, table, title):
    return opened_page.page.locator(f"[data-table={table}] thead button", has_text=title)


# ---------------------------------------------------------------- without a browser


def test_the_policy_lets_run_the_two_scripts_alone():
    elements = Elements(page(sample(n_features=30)))
    policy = next(m["content"] for m in elements.named("meta") if m.get("http-equiv") == "Content-Security-Policy")
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split("; ")}
    hashes = [f"'sha256-{b64encode(sha256(s.encode()).digest()).decode()}'" for s in elements.scripts[2:]]
    assert rules == {
        "default-src": ["'none'"],
        "script-src": hashes,
        "style-src": ["'unsafe-inline'"],
        "img-src": ["data:", "blob:"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    assert len(hashes) == 2


def test_no_element_is_made_by_a_name():
    plain, hostile = (Elements(page(sample(n_features=30, hostile=h))) for h in (False, True))
    # An odd command is as long as another, a list too: only the names differ.
    assert {tag for tag, _ in hostile.found} - {tag for tag, _ in plain.found} <= {"i"}
    assert len(hostile.scripts) == 4
    assert not [name for _, attributes in hostile.found for name in attributes if name.startswith("on")]
    assert not [a for _, a in hostile.found if a.get("src") or not (a.get("href") or "#").startswith(("#", "data:,"))]


def test_the_facts_are_in_the_page_and_cannot_end_their_element():
    facts = sample(n_features=60, hostile=True)
    texts = Elements(page(facts)).scripts[:2]
    assert not set("<>&\u2028\u2029") & set("".join(texts))
    found, figures = map(json.loads, texts)
    assert found["features"]["table"] == facts["features"]["table"]
    assert [one["title"] for one in figures["distribution"]] == [o["name"] for o in facts["features"]["distributions"]]
    assert found["rows"]["confusion"] == facts["rows"]["confusion"]
    assert figures["projection"]["data"][0]["meta"]["label"] == facts["rows"]["classes"][0]
    rows = found["models"]["rows"]
    assert rows["recipe"] == [row["recipe"] for row in facts["models"]["rows"]]
    assert rows["mean"] == pytest.approx([row["mean"] for row in facts["models"]["rows"]], rel=1e-5)


def test_the_script_makes_no_markup_of_text():
    script = (TEMPLATES / "page.js").read_text(encoding="utf-8")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser"):
        assert word not in script
    # These would end the element that holds the script.
    assert "</script" not in script.lower()
    assert "<!--" not in script


def test_half_a_character_does_not_keep_the_page_from_its_file():
    facts = sample(n_features=30)
    facts["title"] = "broken \udc80 name"
    assert "broken ? name" in page(facts)


def test_many_classes_have_a_list_of_confusions():
    facts = sample(n_features=30, n_classes=31)
    counts = facts["rows"]["confusion"]
    wrong = sum(count for i, line in enumerate(counts) for j, count in enumerate(line) if i != j)
    listed = view._confusion(facts["rows"])["listed"]
    assert 0 < sum(count for *_, count in listed) <= wrong
    assert listed[0][2] == max(count for i, line in enumerate(counts) for j, count in enumerate(line) if i != j)
    assert '<td class="right"' not in page(facts)


def test_clusters_hold_every_feature_once():
    redundancy = sample()["features"]["redundancy"]
    clusters = view.clusters({"redundancy": redundancy})
    alone = [c for c in redundancy["cluster"] if redundancy["cluster"].count(c) == 1]
    assert sorted(name for names in clusters for name in names) == sorted(
        name for name, c in zip(redundancy["names"], redundancy["cluster"], strict=True) if c not in alone
    )


def test_the_first_screen_names_the_features_and_tells_what_guessing_is():
    facts = sample()
    table = facts["features"]["table"]
    names = [name for name, used in zip(table["name"], table["used"], strict=True) if used]
    facts["answer"]["n_used"] = len(names)
    shown = page(facts).partition("<script")[0]
    assert "0.500 would be guessing" in shown
    assert shown.count("balanced error rate: the mean") == 1
    first = shown.partition('<p class="chosen">')[2].partition("</p>")[0]
    assert re.findall("<bdi>(.*?)</bdi>", first) == names[:20]
    assert ("more</a>" in first) == (len(names) > 20)
    table["used"] = [place < 54 for place in range(len(table["used"]))]
    facts["answer"]["n_used"] = 54
    assert 'and <a href="#features">34 more</a>.' in page(facts)


def test_one_is_singular():
    facts = sample(n_features=30, n_models=1)
    facts["data"] |= {"rows": 1, "features": 1}
    shown = page(facts)
    assert "1 model evaluated" in shown
    assert "1 row, 1 feature, 2 classes" in shown
    assert not re.search(r"\b1 (models|rows|features|columns|groups|recipes|folds)\b", shown.partition("<script")[0])


def test_groups_and_left_out_columns_are_shown():
    facts = sample(n_features=30)
    shown = page(facts)
    assert "none of the 40 groups has rows in training and in test at once" in shown
    assert "40 of 1 to 12 rows, median 6.5" in shown
    assert "2 columns were left out" in shown
    assert "every row has a value of its own" in shown
    assert "&#39;?&#39; was read as missing" in shown
    facts["answer"]["groups"], facts["data"]["group_sizes"] = 3, [2, 2, 2]
    shown = page(facts)
    assert "3 groups have rows in training and in test at once" in shown
    assert "40 of 2 rows" in shown
    facts["answer"]["groups"] = facts["data"]["groups"] = None
    facts["data"] |= {"not_features": [], "reading": []}
    assert "at once" not in page(facts)
    assert "left out" not in page(facts).partition("<script")[0]


@pytest.mark.parametrize("n_classes", [2, 5])
def test_rates_are_a_table(n_classes):
    facts = sample(n_features=30, n_classes=n_classes)
    shown = page(facts)
    for one in facts["rows"]["rates"]:
        assert f"{one['right']:,} of {one['of']:,}" in shown
        assert f"{100 * one['low']:.1f} % to {100 * one['high']:.1f} %" in shown
    facts["rows"]["rates"] = None
    assert "How often it is right" not in page(facts)


def test_facts_of_an_older_run_are_shown():
    """A run that was searched before has none of these entries."""
    facts = sample(n_features=30)
    for panel, names in {
        "answer": "about chance groups",
        "data": "group_sizes not_features reading",
        "models": "n",
        "features": "permutation_importance effects quality",
        "rows": "heat pairs rates precision_recall",
    }.items():
        for name in names.split():
            del facts[panel][name]
    for one in facts["features"]["distributions"]:
        del one["boxes"]
    elements = Elements(page(facts))
    drawn = {attributes.get("data-figure") for attributes in elements.named("div")}
    assert "projection" in drawn
    assert not drawn & {"heat", "pairs", "precision_recall"}
    assert "30 features" in text(facts)


@pytest.mark.parametrize("part", ["answer", "models", "features", "rows", "story", "data"])
def test_a_panel_without_facts_is_left_out(part):
    facts = sample(n_features=30)
    facts[part] = None
    elements = Elements(page(facts))
    ids = {a.get("id") for a in elements.named("section")}
    assert part not in ids
    assert ids == {a["href"].removeprefix("#") for a in elements.named("a")} - {"main"}


# ---------------------------------------------------------------- in the browser


@needs_chromium
@pytest.mark.parametrize(
    ("classes", "figures"), [(2, TWO_CLASSES), pytest.param(9, MORE_CLASSES, marks=pytest.mark.slow)]
)
def test_every_panel_is_drawn_and_nothing_is_asked_for(browser, report, classes, figures):
    file = report(n_classes=classes)
    with opened(browser, file) as seen:
        assert seen.draw_all() == figures
        assert seen.page.locator("section").count() == 9
        assert seen.page.locator("nav a").count() == 9
        assert seen.page.locator(".confusion td").count() == classes**2
        # What is hidden at first is there when asked for.
        seen.page.locator("#sizes .legend button[aria-pressed=false]").first.click()
        assert seen.errors == []
        assert seen.requests == [file.as_uri()]
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@needs_chromium
def test_the_leaderboard_tells_the_equals_of_the_best_and_sorts_filters_and_grows(browser, report):
    models = sample()["models"]
    rows = models["rows"]
    with opened(browser, report()) as seen:
        assert column(seen, "models", 1) == [str(i + 1) for i in range(20)]
        words = column(seen, "models", 8)
        assert words[models["best"]].startswith("best")
        assert "smallest" in words[models["smallest"]]
        same = [word.startswith(("best", "no significant difference")) for word in words]
        assert same == [row["same"] for row in rows[:20]]
        assert rows[models["smallest"]]["recipe"] in seen.page.locator("#models > p").nth(1).inner_text()
        button = header(seen, "models", "Features")
        button.focus()
        seen.page.keyboard.press("Enter")
        known = sorted(row["features"] for row in rows if row["features"] is not None)
        assert [float(v.replace(",", "")) for v in column(seen, "models", 5)] == known[:20]
        assert button.locator("..").get_attribute("aria-sort") == "ascending"
        seen.page.keyboard.press("Enter")
        assert [float(v.replace(",", "")) for v in column(seen, "models", 5)] == known[::-1][:20]
        assert button.locator("..").get_attribute("aria-sort") == "descending"
        # What is unknown is last both ways.
        for _ in range(2):
            seen.page.locator("[data-table=models] button", has_text="Show 20 more").click()
        assert column(seen, "models", 5)[len(known) :] == ["\N{EN DASH}"] * (60 - len(known))
        header(seen, "models", "BER").click()
        means = [float(v.split()[0]) for v in column(seen, "models", 3)]
        assert means == sorted(means)
        assert seen.page.locator("[data-table=models] th[aria-sort=none]").count() == 7
        seen.page.locator("[data-table=models] input").fill("RELIEF")
        assert len(column(seen, "models", 1)) == sum("relief" in row["recipe"] for row in rows)
        seen.page.locator("[data-table=models] input").fill("no such model")
        assert column(seen, "models", 1) == []
        assert seen.errors == []


@needs_chromium
def test_search_finds_a_feature_and_shows_its_distribution(browser, report):
    table = sample(n_features=100_000, n_models=2000)["features"]["table"]
    with opened(browser, report(n_features=100_000, n_models=2000)) as seen:
        search = seen.page.get_by_label("Search features")
        # The last of all that are listed, which is far from being shown.
        search.fill(table["name"][-1].upper())
        assert column(seen, "features", 2) == [table["name"][-1]]
        assert seen.page.locator("[data-table=features] button.pick").count() == 0
        search.fill(table["name"][7])
        drawing = seen.page.locator("#distribution .plot")
        drawing.locator("svg.main-svg").first.wait_for()
        before = drawing.locator(".scatterlayer").inner_html()
        seen.page.locator("[data-table=features] button.pick").focus()
        seen.page.keyboard.press("Enter")
        assert seen.page.locator("#distribution-name").inner_text() == table["name"][7]
        assert drawing.locator(".scatterlayer").inner_html() != before
        # A nominal one has bars.
        search.fill(table["name"][4])
        seen.page.locator("[data-table=features] button.pick").click()
        assert drawing.locator(".barlayer .point").count() == 6
        assert seen.errors == []


@needs_chromium
def test_the_features_sort_and_come_as_csv(browser, report):
    table = sample(hostile=True)["features"]["table"]
    with opened(browser, report(hostile=True)) as seen:
        header(seen, "features", "Rank").click()
        header(seen, "features", "Rank").click()
        assert column(seen, "features", 1) == [str(rank) for rank in sorted(table["rank"], reverse=True)[:20]]
        header(seen, "features", "Selected").click()
        shares = [int(text.split()[0]) for text in column(seen, "features", 4)]
        assert shares == sorted((round(100 * share) for share in table["chosen"]), reverse=True)[:20]
        with seen.page.expect_download() as download:
            seen.page.locator("#csv").click()
        with download.value.path().open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        # A spreadsheet must not run a name.
        assert [line["name"] for line in lines] == [f"'{n}" if n.startswith("=") else n for n in table["name"]]
        assert any(line["name"].startswith("'=") for line in lines)
        assert [float(line["score"]) for line in lines] == table["score"]
        assert seen.errors == []


@needs_chromium
def test_what_could_stand_in_for_a_feature_is_below_it(browser, report):
    features = sample(hostile=True)["features"]
    examined = {one["place"]: one for one in features["substitutes"]["examined"]}
    with opened(browser, report(hostile=True)) as seen:
        cells = seen.page.locator("[data-table=features] tbody th")
        lines = cells.evaluate_all("all => all.map(e => e.querySelector('small')?.textContent ?? null)")
        assert [place for place, line in enumerate(lines) if line is not None] == [p for p in examined if p < 20]
        for place, one in examined.items():
            if place < 20:
                others = [f"{each['name']} ({each['measure']} = {each['redundancy']:.2f})" for each in one["by"]]
                assert all(other in lines[place] for other in others)
                assert ("dispensable" in lines[place]) is not one["needed"]
        with seen.page.expect_download() as download:
            seen.page.locator("#csv").click()
        with download.value.path().open(encoding="utf-8", newline="") as file:
            replaced = [line["replaced"] for line in csv.DictReader(file)]
        assert replaced[:20] == [line or "" for line in lines]
        assert seen.errors == []


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_people_of_all_eyes_and_hands_can_read_it(browser, report, scheme):
    axe = pytest.importorskip("axe_playwright_python", reason="axe-core is absent: pip install axe-playwright-python")
    # The checker needs to run in the page, which the policy would forbid. A figure is one picture to it.
    with opened(browser, report(n_features=40, n_models=12, n_classes=9), color_scheme=scheme, bypass_csp=True) as seen:
        seen.draw_all()
        seen.page.evaluate(Path(axe.__file__).with_name("axe.min.js").read_text(encoding="utf-8"))
        found = seen.page.evaluate("axe.run({exclude: ['.plot svg']}, {resultTypes: ['violations']})")
    assert found["passes"]
    bad = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
    assert [(v["id"], [node["html"][:200] for node in v["nodes"]]) for v in bad] == []


@needs_chromium
@pytest.mark.parametrize("classes", [pytest.param(2, marks=pytest.mark.slow), len(HOSTILE)])
def test_hostile_names_are_text(browser, report, classes):
    facts = sample(hostile=True, n_classes=classes)
    file = report(hostile=True, n_classes=classes)
    with opened(browser, file) as seen:
        assert seen.draw_all() == (TWO_CLASSES if classes == 2 else MORE_CLASSES)
        names = seen.page.locator("[data-table=features] tbody th .short")
        shown = names.evaluate_all("all => all.map(e => e.textContent)")
        assert shown == [name if name.strip() else "(no name)" for name in facts["features"]["table"]["name"][:20]]
        seen.page.locator("[data-table=features] button.pick").evaluate_all(
            f"all => all.slice(0, {len(HOSTILE)}).forEach(e => e.click())"
        )
        seen.page.locator("#rows .plot").first.hover()
        ticks = seen.page.locator("[data-figure=redundancy] .ytick text")
        found = {tick.strip("\u2068\u2069\u2026") for tick in ticks.evaluate_all("all => all.map(e => e.textContent)")}
        # Plotly would make something else of <br> and of &lt;.
        assert found == {line(name, 22).rstrip("\u2026") for name in facts["features"]["redundancy"]["names"]}
        assert seen.page.locator("h1").inner_text() == facts["title"]
        assert seen.page.evaluate("window.__hit") is None
        assert (seen.errors, seen.dialogs, seen.requests) == ([], [], [file.as_uri()])
        assert seen.page.locator("main img, main script, main a[href]:not([href^='#'])").count() == 0
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@needs_chromium
def test_the_effect_and_the_importance_of_a_feature_are_in_its_line(browser, report):
    panel = sample()["features"]
    loss = {one["place"]: one for one in panel["permutation_importance"]["loss"]}
    with opened(browser, report()) as seen:
        permuted, effects = (column(seen, "features", number) for number in (6, 7))
        for place in range(20):
            one = panel["effects"][place]
            if one is None:
                assert effects[place] == "\N{EN DASH}"
            else:
                assert one["class"] in effects[place]
                ends = sorted(abs(one[key]) for key in ("low", "high"))
                expected = [f"{end:.2f}" if one["level"] is None else f"{100 * end:.0f}" for end in ends]
                assert f"({expected[0]} to {expected[1]})" in effects[place]
            known = f"{loss[place]['mean']:.3f} \N{PLUS-MINUS SIGN} 0.010" if place in loss else "\N{EN DASH}"
            assert permuted[place] == known
        header(seen, "features", "Effect").click()
        sizes = sorted((abs(one["size"]) for one in panel["effects"] if one), reverse=True)
        assert f"{sizes[0]:.2f} sd" in column(seen, "features", 7)[0]
        assert seen.errors == []


@needs_chromium
def test_the_quality_of_columns_is_a_table(browser, report):
    known = sample()["features"]["quality"]["table"]
    with opened(browser, report()) as seen:
        seen.page.locator("#data summary", has_text="Quality").click()
        assert column(seen, "quality", 1) == known["name"][:20]
        assert column(seen, "quality", 6)[:3] == ["", "constant", f"the same as {known['name'][0]}"]
        seen.page.locator("[data-table=quality] input").fill("constant")
        assert column(seen, "quality", 1) == [known["name"][1]]
        assert seen.errors == []


@needs_chromium
@pytest.mark.parametrize("classes", [2, 9])
def test_a_narrow_screen_scrolls_down_only(browser, report, classes):
    with opened(browser, report(n_classes=classes, hostile=classes == 2)) as seen:
        seen.page.set_viewport_size({"width": 400, "height": 800})
        seen.draw_all()
        seen.page.locator("details").evaluate_all("all => all.forEach(e => { e.open = true; })")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 400
        # What is wider scrolls in a box of its own, which the keyboard reaches.
        wide = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1 && e.tabIndex !== 0).map(e => e.className)"
        assert seen.page.locator(".scroll, .figure-pairs .sheet, .figure-heat .sheet").evaluate_all(wide) == []


@needs_chromium
def test_what_is_told_of_a_point_is_text(browser, report):
    facts = sample(hostile=True, n_classes=len(HOSTILE))
    with opened(browser, report(hostile=True, n_classes=len(HOSTILE))) as seen:
        seen.draw_all()
        rows = seen.page.locator("[data-figure=projection]")
        for number, name in enumerate(facts["rows"]["classes"]):
            first = facts["rows"]["projection"]["row"][facts["rows"]["projection"]["class"].index(number)]
            rows.evaluate(f"figure => Plotly.Fx.hover(figure, [{{ curveNumber: {number}, pointNumber: 0 }}])")
            # Plotly tells of a point every now and then only.
            seen.page.wait_for_timeout(80)
            found = rows.locator(".hoverlayer text").text_content()
            assert found.translate(dict.fromkeys(map(ord, "\u2068\u2069"))) == line(first) + line(name, 40)
        assert seen.page.evaluate("window.__hit") is None
        assert seen.errors == []


@needs_chromium
def test_the_largest_report_is_made_and_painted_soon(browser, folder):
    facts = sample(n_features=100_000, n_models=2000)
    begin = time.perf_counter()
    text = page(facts)
    assert time.perf_counter() - begin < 10
    file = folder / "large.html"
    file.write_text(text, encoding="utf-8")
    assert file.stat().st_size < 6_000_000
    with opened(browser, file) as seen:
        paints = dict(seen.page.evaluate("performance.getEntriesByType('paint').map(p => [p.name, p.startTime])"))
        assert paints["first-contentful-paint"] < 2000
        slowest = seen.page.evaluate(
            """() => Math.max(...Array.from(document.querySelectorAll('[data-table=models] thead button'), (button) => {
                const begin = performance.now();
                button.click();
                return performance.now() - begin;
            }))"""
        )
        assert slowest < 1000
        assert len(column(seen, "models", 1)) == 20


@needs_chromium
@pytest.mark.parametrize(
    ("kind", "sections", "figures"),
    [
        ("validate", ["answer", "data", "features", "rows", "honesty", "made"], [*TWO_CLASSES[3:-2]]),
        ("data", ["data", "features", "rows", "honesty", "made"], ["distribution", "redundancy", "projection"]),
    ],
)
def test_other_kinds_have_the_panels_that_apply(browser, report, kind, sections, figures):
    with opened(browser, report(kind=kind)) as seen:
        assert seen.draw_all() == figures
        assert seen.page.locator("section").evaluate_all("all => all.map(e => e.id)") == sections
        assert seen.page.locator(".numbers .main").count() == (kind == "validate")
        assert seen.errors == []


@needs_chromium
def test_dark_mode_can_be_switched_and_is_never_printed(browser, report):
    ink = "getComputedStyle(document.querySelector('[data-figure=projection] .xtitle')).fill"
    with opened(browser, report(), color_scheme="light") as seen:
        seen.page.locator("[data-figure=projection]").scroll_into_view_if_needed()
        seen.page.locator("[data-figure=projection] svg.main-svg").first.wait_for()
        light = seen.page.evaluate(f"[{ink}, getComputedStyle(document.body).backgroundColor]")
        seen.page.locator("#theme").press("Enter")
        dark = seen.page.evaluate(f"[{ink}, getComputedStyle(document.body).backgroundColor]")
        assert not set(light) & set(dark)
        assert seen.page.locator("#theme").get_attribute("aria-pressed") == "true"
        seen.page.emulate_media(media="print")
        seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert seen.page.evaluate(f"[{ink}, getComputedStyle(document.body).backgroundColor]") == light
        # All is opened and drawn, and nothing is left to press.
        assert seen.page.locator("details:not([open])").count() == 0
        assert seen.page.locator(".plot:not(:has(svg.main-svg))").count() == 0
        assert not seen.page.locator(".copy, .save, #theme, #csv").filter(visible=True).count()
        seen.page.set_viewport_size({"width": 690, "height": 980})
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 690
        seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert seen.page.locator("details[open]").count() == 0
        assert seen.errors == []


@needs_chromium
def test_commands_are_copied_and_figures_saved(browser, report):
    command = sample()["answer"]["commands"][0]["command"]
    with opened(browser, report(), permissions=["clipboard-read", "clipboard-write"]) as seen:
        seen.page.locator("#answer .copy").nth(1).click()
        seen.page.locator("#answer .copy", has_text="Copied").wait_for()
        assert seen.page.evaluate("navigator.clipboard.readText()") == command
        seen.page.locator("[data-figure=roc]").scroll_into_view_if_needed()
        with seen.page.expect_download() as download:
            seen.page.locator(".figure-roc .save").click()
        drawing = download.value.path().read_text(encoding="utf-8")
        assert drawing.startswith("<svg")
        assert "true positive rate" in html.unescape(re.sub("<[^>]*>", " ", drawing))
        assert seen.errors == []


@needs_chromium
def test_the_keyboard_reaches_every_control(browser, report):
    with opened(browser, report()) as seen:
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate("document.activeElement.className") == "skip"
        unreachable = "all => all.filter(e => e.tabIndex < 0 || e.closest('[aria-hidden=true]')).length"
        assert seen.page.locator("button, input, a[href], summary").evaluate_all(unreachable) == 0
        levels = seen.page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(e => Number(e.tagName[1]))")
        assert levels[0] == 1
        assert all(b - a <= 1 for a, b in pairwise(levels))
