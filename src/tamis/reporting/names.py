"""Names of the data as a reader sees them: on one line, of bounded length, with nothing that turns the line around."""

import unicodedata
from typing import Any

__all__ = ["escaped", "shown"]

#: What a letter of no shape of its own becomes.
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"

#: Marks that change the direction of all that follows; letters written from right to left need none.
_TURNS = dict.fromkeys([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])

#: What must not be the last thing before an ellipsis: it would join with it.
_JOINERS = "\u200d\ufe0f"


def shown(name: Any, letters: int = 60) -> str:
    """A name on one line, shortened with an ellipsis; what cannot be seen is left out or marked.

    Parameters
    ----------
    name : object
        Any name of the data.
    letters : int, default=60
        The longest text that is given back.

    Examples
    --------
    >>> shown("two\\nlines"), shown("a name that is long", 10), shown("")
    ('two lines', 'a name th\u2026', '(no name)')
    """
    text = " ".join(str(name).translate(_TURNS).split())
    text = "".join(_UNKNOWN if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text)
    if len(text) > letters:
        text = text[: letters - 1].rstrip(" " + _JOINERS) + "\N{HORIZONTAL ELLIPSIS}"
    return text or "(no name)"


#: What plotly would take for markup, a formula or a place to fill in.
_MARKUP = {ord(sign): f"&#{ord(sign)};" for sign in "&<>$%"}


def escaped(name: Any, letters: int = 40) -> str:
    """A name in a figure of the page: plotly reads some markup, so nothing of it is left; isolates keep its direction.

    Examples
    --------
    >>> escaped("<b> 5 %")
    '&#60;b&#62; 5 &#37;'
    """
    text = shown(name, letters).translate(_MARKUP)
    return text if text.isascii() else f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"
