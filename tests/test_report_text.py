"""The report as text: what it says is in the facts, and names stay names whatever Markdown makes of the rest."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sample_facts import HOSTILE, sample
from tamis.reporting.display_names import shown
from tamis.reporting.markdown import align, cell, fence, name, prose, text

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
MARKS = str.maketrans("", "", "\N{FIRST STRONG ISOLATE}\N{POP DIRECTIONAL ISOLATE}")
#: Letters that mean something somewhere, more often than others.
NAMES = st.one_of(
    st.text(max_size=80), st.text("\\`*_[]()<>&|~$#:!{}@.-+=\"' \n\t1aw", max_size=30), st.sampled_from(HOSTILE)
)


def flat(tokens):
    """All tokens, those within lines too."""
    return [inner for token in tokens for inner in (token, *flat(token.children or []))]


def read(inline):
    """The words of a line as a reader sees them."""
    return "".join(t.content for t in inline.children if t.type in ("text", "code_inline")).translate(MARKS)


def tables(markdown):
    """Every table as rows of cells, as a reader sees them."""
    found, open_ = [], False
    for token in READER.parse(markdown):
        if token.type == "table_open":
            found.append([])
        elif token.type in ("tr_open", "tr_close"):
            open_ = token.type == "tr_open"
            found[-1] += [[]] if open_ else []
        elif token.type == "inline" and open_:
            found[-1][-1].append(read(token))
    return found


def table_with(markdown, *head):
    (found,) = (one for one in tables(markdown) if set(head) <= set(one[0]))
    return found


@given(NAMES)
def test_any_name_is_read_as_it_is(given_name):
    for written in (prose(given_name), name(given_name, 120), f"- {prose(given_name)}", f"# {prose(given_name)}"):
        tokens = READER.parse(written)
        (line,) = (token for token in tokens if token.type == "inline")
        assert read(line) == shown(given_name, 120)
        allowed = {"inline", "text", "code_inline", "text_special"}
        kinds = {token.type for token in flat(tokens)}
        assert {kind for kind in kinds if not kind.endswith(("_open", "_close"))} <= allowed
        assert not kinds & {"em_open", "strong_open", "link_open", "s_open", "blockquote_open", "ordered_list_open"}


@given(NAMES, NAMES)
def test_any_name_fills_one_cell(one, other):
    rows = [["first", cell(other), "n"], ["---", "---", "--:"], [cell(one), cell(other), "1"], ["x", cell(one), "2"]]
    written = align("".join(f"| {' | '.join(row)} |\n" for row in rows))
    one, other = shown(one), shown(other)
    assert tables(written) == [[["first", other, "n"], [one, other, "1"], ["x", one, "2"]]]


@given(st.text(max_size=60), st.sampled_from(["`", "``", "\n```\n", "~~~\n", "\n</code>"]))
def test_code_is_shown_as_it_is(code, more):
    # Markdown itself knows one way only to end a line, and no zero byte.
    code = re.sub(r"\r\n?|\x00", "", code + more)
    (block,) = READER.parse(fence(code, "sh"))
    assert (block.type, block.info, block.content) == ("fence", "sh", code + "\n")


def test_addresses_are_not_made_links():
    words = "a@b.com www.example.org http://c.d WWW.x ftp://e"
    bare = re.sub("`[^`]*`", "", prose(words))
    assert not re.search(r"@|(?<!\\)://|www\.", bare, re.IGNORECASE)
    (line,) = (token for token in READER.parse(prose(words)) if token.type == "inline")
    assert read(line) == words


def test_directions_do_not_leave_a_name():
    assert name("\u05d0\u05d1") == "\N{FIRST STRONG ISOLATE}`\u05d0\u05d1`\N{POP DIRECTIONAL ISOLATE}"
    assert shown("\u202eabc\u2066") == "abc"


def test_a_name_that_is_shortened_does_not_end_in_a_joiner():
    family = "\U0001f469\u200d\U0001f52c"
    assert shown(f"ab{family}", 5) == f"ab{family}"
    assert shown(f"ab{family}c", 5) == "ab\U0001f469\N{HORIZONTAL ELLIPSIS}"
    assert shown("a\x07b\ud800") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("kind", ["mine", "validate", "data"])
@pytest.mark.parametrize("n_classes", [2, 9, 30])
def test_hostile_names_break_nothing(kind, n_classes):
    facts = sample(hostile=True, n_classes=n_classes, kind=kind)
    markdown = text(facts)
    tokens = flat(READER.parse(markdown))
    kinds = {token.type for token in tokens}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "em_open", "s_open", "blockquote_open", "hr"}
    # What is bold is ours.
    bold = sum(token.type == "strong_open" for token in tokens)
    assert bold == len(facts["honesty"]["warnings"]) + (kind != "data")
    outside = re.sub(r"^(`{3,})[^\n]*\n.*?\n\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    assert "<" not in outside
    for block in outside.split("\n\n"):
        rows = block.splitlines()
        if rows and rows[0].startswith("|"):
            assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    for rows in tables(markdown):
        assert len({len(row) for row in rows}) == 1


def test_headings_are_in_order():
    headings = re.findall("^#+ .*", text(sample()), re.MULTILINE)
    assert headings == [
        "# blood tests",
        "## The answer",
        "## The data",
        "## Models",
        "## Features",
        "## Rows",
        "## How far to trust it",
        "## Warnings",
        "## How the search went",
        "## How it was made",
    ]


def test_panels_that_are_none_are_left_out():
    validated, data = (text(sample(kind=kind)) for kind in ("validate", "data"))
    assert "## Models" not in validated
    assert "## How the search went" not in validated
    assert "## The answer" in validated
    for heading in ("The answer", "Models", "Rows", "How far to trust it", "How the search went"):
        assert f"## {heading}" not in data
    assert "## Warnings" in data
    assert "selected" not in data


def test_the_answer_comes_first():
    facts = sample()
    answer = facts["answer"]
    said = text(facts).partition("## The data")[0]
    mean, se = answer["honest"]["mean"], answer["honest"]["se"]
    assert f"**BER {mean:.3f} \N{PLUS-MINUS SIGN} {se:.3f}**" in said
    assert f"{answer['honest']['low']:.3f} to {answer['honest']['high']:.3f}" in said
    assert f"uses {answer['n_used']} of 500 features" in said
    assert answer["sentence"] in said
    codes = [token.content for token in READER.parse(said) if token.type == "fence"]
    assert codes == [one + "\n" for one in (answer["recipe"], *(c["command"] for c in answer["commands"]))]


@pytest.mark.parametrize("n_models", [5, 60])
def test_the_best_models_are_listed(n_models):
    facts = sample(n_models=n_models)
    markdown = text(facts)
    _, *rows = table_with(markdown, "model")
    listed = facts["models"]["rows"][:20]
    assert [row[:3] for row in rows] == [
        [str(i + 1), "=" if row["same"] else "", row["recipe"]] for i, row in enumerate(listed)
    ]
    assert [row[4] for row in rows] == [f"{row['mean']:.3f}" for row in listed]
    assert [row[7] for row in rows] == ["-" if row["features"] is None else f"{row['features']:,.0f}" for row in listed]
    assert ("And 40 models more." in markdown) == (n_models == 60)


def test_models_as_good_as_the_best_are_counted():
    facts = sample()
    same = [row for row in facts["models"]["rows"] if row["same"]]
    smallest = facts["models"]["rows"][facts["models"]["smallest"]]
    said = f"The smallest of these uses {smallest['features']:.0f} features: `{smallest['recipe']}`."
    assert (
        f"60 models were evaluated; {len(same) - 1} are not significantly different from the best (=). {said}"
        in text(facts)
    )
    for row in same[1:]:
        row["same"] = False
    assert "60 models were evaluated; no other was found to be as good as the best.\n" in text(facts)


def test_features_in_use_are_listed_with_their_score_and_how_often_they_were_chosen():
    facts = sample()
    known = facts["features"]["table"]
    _, *rows = table_with(text(facts), "feature")
    by_name = dict(zip(known["name"], zip(known["rank"], known["score"], known["chosen"], strict=True), strict=True))
    assert {row[1] for row in rows} == {n for n, used in zip(known["name"], known["used"], strict=True) if used}
    for rank, feature, score, chosen, *_ in rows:
        assert (int(rank), f"{by_name[feature][1]:.4g}") == (by_name[feature][0], score)
        assert f"{100 * by_name[feature][2]:.3g} %" == chosen
    shares = [by_name[row[1]][2] for row in rows]
    assert shares == sorted(shares, reverse=True)


def test_importance_and_effect_stand_beside_the_feature():
    facts = sample()
    panel = facts["features"]
    panel["effects"][0] = {"class": "ill", "level": None, "size": 1.25, "low": 0.9, "high": 1.6}
    panel["effects"][1] = {"class": "ill", "level": "red", "size": -0.3, "low": -0.4, "high": -0.1}
    panel["effects"][2] = None
    panel["table"]["used"][:3] = [True] * 3
    panel["permutation_importance"]["loss"] = [
        {"place": 0, "mean": 0.123, "sd": None},
        {"place": 1, "mean": 0.01, "sd": 0.002},
    ]
    head, *rows = table_with(text(facts), "feature")
    assert head[4:6] == ["permuted", "effect"]
    known = {row[1]: row[4:6] for row in rows}
    names = panel["table"]["name"]
    assert known[names[0]] == ["0.123", "higher in ill by 1.25 sd (0.90 to 1.60)"]
    assert known[names[1]] == ["0.010 \N{PLUS-MINUS SIGN} 0.002", "red less often in ill by 30 points (10 to 40)"]
    assert known[names[2]] == ["-", "-"]
    panel["permutation_importance"] |= {"loss": [], "note": "it would take more than 5 seconds"}
    assert "The permutation importance is not known: it would take more than 5 seconds." in text(facts)


def test_the_chosen_features_are_named_and_guessing_is_told():
    facts = sample()
    markdown = text(facts)
    table = facts["features"]["table"]
    used = [name for name, one in zip(table["name"], table["used"], strict=True) if one]
    assert f"It uses: {', '.join(f'`{name}`' for name in used[:20])}" in markdown
    assert "0.500 would be guessing. BER is the balanced error rate: the mean of the error rates" in markdown
    assert "left out: `healthy`, every row has a value of its own" in markdown
    assert "Rows of a group stay together" in markdown


def test_at_most_fifty_features_are_listed():
    facts = sample(n_features=100_000, n_models=2000)
    facts["features"]["table"]["used"] = [True] * len(facts["features"]["table"]["name"])
    markdown = text(facts)
    assert len(table_with(markdown, "feature")) == 51
    assert "And 987 features more." in markdown
    assert len(markdown) < 30_000


def test_without_folds_features_are_listed_by_rank():
    facts = sample(kind="data")
    head, *rows = table_with(text(facts), "feature")
    assert head == ["rank", "feature", "score", "effect", "role"]
    assert [int(row[0]) for row in rows] == list(range(1, 51))


def test_the_confusion_matrix_is_the_one_of_the_facts():
    rows = sample(n_classes=9)["rows"]
    head, *lines = table_with(text(sample(n_classes=9)), "truth, prediction:")
    assert head[1:] == [line[0] for line in lines] == rows["classes"]
    assert [[int(count) for count in line[1:]] for line in lines] == rows["confusion"]


def test_of_many_classes_the_mistakes_are_listed():
    rows = sample(n_classes=30)["rows"]
    _, *lines = table_with(text(sample(n_classes=30)), "truth", "prediction")
    place = {label: number for number, label in enumerate(rows["classes"])}
    counts = [int(line[2]) for line in lines]
    assert counts == [rows["confusion"][place[line[0]]][place[line[1]]] for line in lines]
    wrong = [n for i, own in enumerate(rows["confusion"]) for j, n in enumerate(own) if i != j]
    assert counts == sorted(wrong, reverse=True)[:20]
    assert all(line[0] != line[1] for line in lines)


def test_honesty_warnings_and_story_are_told():
    facts = sample()
    markdown = text(facts)
    honesty, story = facts["honesty"], facts["story"]
    assert f"would have given {honesty['leak']['leaky']['mean']:.3f}" in markdown
    assert "200 times: p = 0.00498" in markdown
    assert f"an optimism of {honesty['search']['optimism']:.3f}" in markdown
    for warning in honesty["warnings"]:
        assert f"- **{warning['level']}**: {warning['what']} {warning['why']}" in markdown
    _, *stages = table_with(markdown, "stage", "best")
    assert [row[0] for row in stages] == [one["stage"] for one in story["stages"]]
    for recipe in story["choices"]:
        assert f"- `{recipe}`" in markdown
    for rule in story["trees"][0]["rules"]:
        assert " ".join(rule.split()) in markdown
    assert "numpy 2.4.0" in markdown
    assert facts["made"]["command"] in markdown


def test_what_is_not_known_is_not_told():
    facts = sample()
    facts["answer"]["honest"] |= {"se": None, "low": None, "high": None}
    facts["answer"] |= {"about": None, "chance": None, "groups": None}
    facts["features"]["permutation_importance"] = facts["features"]["effects"] = facts["rows"]["rates"] = None
    facts["answer"]["n_used"] = facts["answer"]["false_features"] = facts["models"]["smallest"] = None
    facts["features"]["stability"] = facts["features"]["redundancy"] = facts["features"]["selectors"] = None
    facts["features"]["table"] |= {"used": [None] * 500, "score": [None] * 500, "role": None}
    facts["data"] |= {"classes": None, "duplicate_rows": None}
    facts["honesty"]["leak"]["optimism"] = None
    for row in facts["models"]["rows"]:
        row["se"] = row["cautious"] = None
    facts["made"] |= {"command": None, "seed": None, "date": None}
    markdown = text(facts)
    assert "None" not in markdown
    assert f"**BER {facts['answer']['honest']['mean']:.3f}** on unseen rows." in markdown
    assert "does not report the features it uses" in markdown


def test_bars_of_a_table_stand_below_each_other():
    facts = sample(n_classes=4)
    for block in text(facts).split("\n\n"):
        if block.startswith("| "):
            places = {tuple(found.start() for found in re.finditer(r"(?<!\\)\|", row)) for row in block.splitlines()}
            assert len(places) == 1
