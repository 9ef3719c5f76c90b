"""The figures of a paper as one page that needs no other file and may ask for none."""

import re
from typing import TYPE_CHECKING

from tamis.reporting.html import policy

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_SCRIPTS = re.compile(r"<script[^>]*>(.*?)</script>", re.DOTALL)
_HEAD = "<head>"


def figure_page(figure: "Figure") -> str:
    """A page of one figure, whose content-security policy allows its own scripts and no request.

    Examples
    --------
    >>> from plotly.graph_objects import Figure, Scatter
    >>> page = figure_page(Figure(Scatter(y=[1, 2])))
    >>> page.index("default-src 'none'; script-src 'sha256-") < page.index("<script")
    True
    """
    config = {"displaylogo": False, "responsive": True}
    page = str(figure.to_html(include_plotlyjs=True, div_id="figures", config=config))
    rules = policy(_SCRIPTS.findall(page))
    return page.replace(_HEAD, f'{_HEAD}<meta http-equiv="Content-Security-Policy" content="{rules}">', 1)
