"""Which selector does well on which data: ``python -m benchmarks.selectors --write docs/which_selector.md``.

Reads the errors that ``python -m benchmarks.portfolio`` computed: every selector with several sizes and classifiers,
by three folds of up to 600 rows. For each data set and selector it takes the lowest error of its recipes. Being the
lowest of some eighty, these errors are too good as such; they compare selectors.
"""

import argparse
import re
from pathlib import Path

import numpy as np

from benchmarks.mine.results import written
from benchmarks.portfolio import read

SELECTORS = ("cc", "mi", "ssv", "modl", "relieff", "mrmr", "rfe", "from_model", "contrasts")
NONE = "all features"


def selector_of(recipe: str) -> str:
    """The selector of a recipe.

    Examples
    --------
    >>> selector_of("standardize | rfe(20) | knn(5)"), selector_of("contrasts | tree"), selector_of("tree")
    ('rfe', 'contrasts', 'all features')
    """
    found = [re.split(r"\W", step, maxsplit=1)[0] for step in recipe.split(" | ")]
    return next((name for name in found if name in SELECTORS), NONE)


def lowest() -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """The lowest error of each selector on each set, and its seconds as a multiple of those of cc."""
    errors: dict[str, dict[str, float]] = {}
    ratios: dict[str, list[float]] = {}
    for name, found in read().items():
        seconds: dict[str, list[float]] = {}
        for recipe, (ber, spent) in found.items():
            selector = selector_of(recipe)
            own = errors.setdefault(name, {})
            own[selector] = min(own.get(selector, 1.0), ber)
            seconds.setdefault(selector, []).append(spent)
        if "cc" in seconds:
            for selector, spent_all in seconds.items():
                ratios.setdefault(selector, []).append(float(np.median(spent_all) / np.median(seconds["cc"])))
    return errors, {selector: float(np.exp(np.mean(np.log(own)))) for selector, own in ratios.items()}


def table() -> str:
    """The table in Markdown."""
    errors, ratios = lowest()
    shown = (NONE, *SELECTORS)
    rows = [["data", *shown]]
    for name, own in errors.items():
        best = min(round(100 * ber, 1) for ber in own.values())
        texts = [f"{100 * own[one]:.1f}" if one in own else "" for one in shown]
        rows.append([name, *(f"**{text}**" if text and float(text) == best else text for text in texts)])
    behind = {one: [100 * (own[one] - min(own.values())) for own in errors.values() if one in own] for one in shown}
    rows.append(["behind the best, mean", *(f"{np.mean(behind[one]):.1f}" for one in shown)])
    rows.append(["time, times cc", *(f"{ratios[one]:.1f}" for one in shown)])
    drawn = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([drawn[0], "|---" * len(rows[0]) + "|", *drawn[1:]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table between the marks of this page")
    given = parser.parse_args()
    found = table()
    print(found)
    if given.write is not None:
        page = given.write.read_text(encoding="utf-8")
        given.write.write_text(written(page, found, "selectors"), encoding="utf-8")


if __name__ == "__main__":
    main()
