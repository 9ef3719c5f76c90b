"""The page of a choice among the variables of time series: sentences, two figures, a table; without scripts."""

from html import escape
from pathlib import Path

from tamis.data.write import write_text
from tamis.reporting.display_names import shown
from tamis.reporting.figure_description import Figure
from tamis.reporting.figures_series import choice_figures
from tamis.reporting.html import policy
from tamis.reporting.metric_text import metric_text
from tamis.reporting.svg_drawing import svg
from tamis.series.choice import VariableChoice

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
.figures { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: flex-start; }
figure { margin: 0; flex: 1 1 20rem; min-width: 0; }
figure svg { width: 100%; }
figcaption, footer { font-size: .85rem; opacity: .8; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .8rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; }
td:first-child { overflow-wrap: anywhere; }
tr.out { opacity: .65; }
"""


def choice_page(choice: VariableChoice) -> str:
    """A complete HTML page that needs no other file; names from the data are escaped."""
    title = f"Variables of {shown(choice.name, 60)}"
    order = [*choice.variables, *choice.left_out]
    rows = "".join(
        f"<tr{' class=out' if place > len(choice.variables) else ''}><td>{escape(shown(name, 60))}</td><td>{place}</td>"
        f"<td>{100 * choice.kept_in_folds[name]:.0f} %</td></tr>"
        for place, name in enumerate(order, 1)
    )
    errors = "".join(
        f"<tr><td>{size}</td><td>{metric_text(choice.metric.name, one.mean)}</td>"
        f"<td>{metric_text(choice.metric.name, one.se)}</td></tr>"
        for size, one in choice.curve.items()
    )
    notes = "".join(f"<p>Note: {escape(note)}.</p>" for note in choice.notes)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy([])}">
<title>{escape(title)}</title><style>{_STYLE}</style></head><body>
<main><h1>{escape(title)}</h1>
{"".join(f"<p>{escape(sentence)}</p>" for sentence in choice.sentences())}
<div class="figures">{"".join(map(_figure, choice_figures(choice).values()))}</div>
<h2>Variables, the best first</h2>
<table><thead><tr><th>variable</th><th>place</th><th>folds that select it</th></tr></thead><tbody>{rows}</tbody></table>
<h2>{escape(choice.metric.title)} by number of variables</h2>
<table><thead><tr><th>variables</th><th>mean</th><th>standard error</th></tr></thead><tbody>{errors}</tbody></table>
{notes}</main>
<footer><p>{choice.n_items} items; {escape(choice.split)}, seed {choice.seed}; the {escape(choice.rule)} number of
variables; model: <code>{escape(choice.recipe)}</code>.</p></footer>
</body></html>
"""


def write_choice(choice: VariableChoice, path: Path) -> Path:
    """Write the page of a choice."""
    write_text(Path(path), choice_page(choice))
    return Path(path)


def _figure(figure: Figure) -> str:
    caption = f"{figure.caption} {figure.note}".strip()
    return f"<figure>{svg(figure)}<figcaption>{escape(caption)}</figcaption></figure>"
