"""Markup is no text: what is read of HTML, beside the parser of the standard library."""

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis as library
from reading import put
from tamis.data.parsing.html_text import is_html, without_markup
from tamis.data.parsing.tokens import count_words
from tamis.data.reading import Reading
from tamis.data.text_columns import counts_of


class Plain(HTMLParser):
    """The text of a page: a plain twin."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.hidden = 0
        self.pieces: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.pieces.append(data)


pieces = st.sampled_from(
    [
        *("gene", "word two", " R&amp;D ", "caf&eacute;", "&#955;mbda", "a < b", "5 > 4", "\n"),
        *("<p>", "</p>", "<BR>", "<br/>", '<a href="x.html">', "</a>", "<IMG SRC='a>b' alt=\"hidden > text\">"),
        *("<!-- a <b>comment</b> here -->", "<!DOCTYPE html>", "<td nowrap>", "<h1>", "</h1>"),
        *("<script>if (a < b) { hide('it') }</script>", '<STYLE type="text/css">p > a { color: red }</STYLE>'),
    ]
)


@given(st.lists(pieces, max_size=12))
def test_words_are_those_of_a_parser(parts: list[str]) -> None:
    page = "<html>" + "".join(parts)
    found, count = without_markup(pl.Series([page]))
    assert count == 1
    ours, theirs = (count_words(pl.Series([text])) for text in (found[0], " ".join(Plain(page).pieces)))
    assert ours.words == theirs.words
    assert ours.codes.tolist() == theirs.codes.tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<HTML>\nword", True),
        ("text with </TD> in it", True),
        ("see <A HREF='x'>", True),
        ("a<br>b", True),
        ("Phillips <P> and Ford <F>", False),
        ("<someone@example.org> wrote", False),
        ("if a <b and c> d", False),
        ("List<String> &amp; more", False),
        ("R&D <em> dash", False),
        ("", False),
    ],
)
def test_what_is_html(text: str, expected: bool) -> None:
    texts = pl.Series([text, None])
    assert is_html(texts).to_list() == [expected, False]
    plain, count = without_markup(texts)
    assert count == expected
    assert expected or plain.to_list() == [text, None]
    assert texts.to_list() == [text, None]  # what came in is not changed


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>kept<script>never closed", "kept"),
        ("<p>kept<!-- never closed", "kept"),
        ("<p>a<b>b</b>c", "a b c"),
        ('<p>an <a href="open>quote</a> stays', "an quote stays"),
        ("HTTP/1.0 200 OK\nServer: CERN/3.0\nDate: Sunday\n\n<html>page", "page"),
        ("Date: Sunday\nhere\n<p>page", "here page"),
    ],
)
def test_pages_as_people_write_them(page: str, text: str) -> None:
    assert without_markup(pl.Series([page]))[0][0].split() == text.split()


def test_each_text_is_decided_by_itself() -> None:
    """A page among others has the words that it has alone, as in a prediction."""
    pages = ["<p>gene &amp; word</p>", "Ford <F> in plain text", "<b>star</b> &lt;a", None]
    together = counts_of(pl.DataFrame({"text": pages}), ["text"], "test")
    for row, page in enumerate(pages[:3]):
        alone = counts_of(pl.DataFrame({"text": [page]}), ["text"], "test")
        assert alone.aligned(together.names).toarray().tolist() == together[[row]].toarray().tolist()


def test_from_a_file_to_a_prediction(tmp_path: Path, tamis: Callable[..., tuple[int, str, str]]) -> None:
    rows = [
        {"label": "ab"[i % 2], "page": f"<p>{'gene' if i % 2 else 'star'}<i>seen{i % 5}</i></p>"} for i in range(30)
    ]
    path = put(tmp_path, {"t.jsonl": "".join(json.dumps(row) + "\n" for row in rows)}) / "t.jsonl"
    data = library.load(path, reading=Reading(text=["page"]))
    assert data.notes == ("30 of 30 texts in 'page' are HTML: only the text between tags is read",)
    assert data.feature_names.tolist() == ["gene", "seen0", "seen1", "seen2", "seen3", "seen4", "star"]
    model = tmp_path / "model"
    status, _, error = tamis("select", path, "chi2(2) | nb(multinomial)", "--text", "page", "--save", model)
    assert status == 0
    assert "texts in 'page' are HTML" in error
    new = pl.DataFrame({"page": ["<td>gene</td>", "star"]})
    assert library.predict(model, new).table["class"].to_list() == ["b", "a"]
    assert library.predict(model, new[:1]).table["class"].to_list() == ["b"]


def test_web_pages(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (shared_data / "webkb4").is_dir():
        pytest.skip("WebKB is not there")
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    data = library.load("webkb4")
    assert any(note.startswith("4199 of 4199 texts in 'html' are HTML") for note in data.notes)
    # Nearly all pages have links; tags that are not closed leave a few.
    column = data.feature_names.tolist().index("html: href")
    assert 0 < data.X[:, [column]].count_nonzero() < 100
