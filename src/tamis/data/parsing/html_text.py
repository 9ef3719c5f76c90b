"""The text of HTML pages, without their markup.

Each text is decided by itself, so that one page to predict is treated as the pages of the training rows were. A text is
HTML when it has one of these:

- ``<html``, ``<head``, ``<body``, ``<title`` or ``<!doctype html``, in any letter case;
- the end tag of an element of HTML, such as ``</a>`` or ``</TD>``;
- a start tag of HTML with an attribute, such as ``<a href=`` or ``<IMG SRC=``;
- a bare start tag of a block in small letters, such as ``<p>`` or ``<br/>``. In capitals alone it is none: ``<P>`` is
  also the symbol of a share.

Of HTML go the header of a web server in front, comments, scripts, styles and tags; a tag ends a word. Entities such as
``&amp;`` become their characters. Any other text stays as it is.
"""

import html

import polars as pl

_ELEMENTS = (
    "a|abbr|address|area|article|aside|b|base|basefont|big|blockquote|body|br|button|caption|center|cite|code|col|dd|del"
    "|dir|div|dl|dt|em|fieldset|font|footer|form|frame|frameset|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|kbd"
    "|label|li|link|main|map|menu|meta|nav|noscript|ol|option|p|pre|q|s|samp|script|section|select|small|span|strike"
    "|strong|style|sub|sup|table|tbody|td|textarea|tfoot|th|thead|title|tr|tt|u|ul|var"
)
_BLOCKS = "p|br|hr|div|li|ul|ol|dl|table|tr|td|h[1-6]|pre|center"
_IS_HTML = (
    r"(?i:<(?:html|head|body|title)[\s>]|<!doctype\s+html"
    rf"|</(?:{_ELEMENTS})\s*>|<(?:{_ELEMENTS})\s+[a-z-]+\s*=)|<(?:{_BLOCKS})\s*/?>"
)
_SERVER = (
    r"(?i)\A\s*(?:HTTP/[\d.]+[^\n]*\n|(?:mime-version|server|date|content-[a-z]+|last-modified):[^\n]*\n)"
    r"(?:[a-z-]+:[^\n]*\n)*"
)
_HIDDEN = r"(?is)<!--.*?(?:-->|\z)|<(?:script\b.*?(?:</script\s*>|\z)|style\b.*?(?:</style\s*>|\z))"
#: A quoted value may hold the end of a tag; a quote that is not closed must not hold the rest of the page.
_TAG = r"""<[/!?]?[A-Za-z](?:[^<>"']|"[^"<]*"|'[^'<]*')*>|<[/!?]?[A-Za-z][^<>]*>"""


def is_html(texts: pl.Series) -> pl.Series:
    """Which texts are HTML; a missing one is not.

    >>> is_html(pl.Series(["<p>a word", "Phillips <P> and a < b", None])).to_list()
    [True, False, False]
    """
    return texts.str.contains(_IS_HTML).fill_null(False)


def without_markup(texts: pl.Series) -> tuple[pl.Series, int]:
    """The texts, those of HTML without their markup, and how many these were.

    >>> texts, count = without_markup(pl.Series(["<b>R&amp;D</b><!-- no -->at 5 &lt; 6", "a <b"]))
    >>> texts.to_list(), count
    ([' R&D  at 5 < 6', 'a <b'], 1)
    """
    found = is_html(texts)
    if not found.any():
        return texts, 0
    at = found.arg_true()
    plain = texts.gather(at).str.replace(_SERVER, " ").str.replace_all(_HIDDEN, " ").str.replace_all(_TAG, " ")
    with_entities = plain.str.contains("&", literal=True).arg_true()
    unescaped = pl.Series([html.unescape(text) for text in plain.gather(with_entities)], dtype=pl.String)
    # To scatter changes a series in place.
    return texts.clone().scatter(at, plain.scatter(with_entities, unescaped)), len(at)
