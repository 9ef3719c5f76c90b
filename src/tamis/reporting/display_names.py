"""Names of the data for display: on one line, of bounded length, with nothing that changes the direction of writing."""

import unicodedata
from typing import Any

#: Marks that change the direction of all that follows; letters written from right to left need none.
_TURNS = dict.fromkeys([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])

#: What plotly would take for markup, a formula or a place to fill in.
_MARKUP = {ord(sign): f"&#{ord(sign)};" for sign in "&<>$%"}


def shown(name: Any, letters: int = 60) -> str:
    """A name on one line of at most `letters` letters, with a mark for letters that cannot be seen.

    Examples
    --------
    >>> shown("two\\nlines"), shown("a name that is long", 10), shown("")
    ('two lines', 'a name th\u2026', '(no name)')
    """
    text = " ".join(str(name).translate(_TURNS).split())
    text = "".join("\ufffd" if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text)
    if len(text) > letters:
        # A joiner at the end would join with the ellipsis.
        text = text[: letters - 1].rstrip(" \u200d\ufe0f") + "\N{HORIZONTAL ELLIPSIS}"
    return text or "(no name)"


def escaped(name: Any, letters: int = 40) -> str:
    """A name in a figure of the page: no markup for plotly, and isolated so that it keeps its own direction.

    Examples
    --------
    >>> escaped("<b> 5 %")
    '&#60;b&#62; 5 &#37;'
    """
    text = shown(name, letters).translate(_MARKUP)
    return text if text.isascii() else f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"
