"""The study of the honest estimates: what the search says of itself beside its error on fresh rows."""

from collections.abc import Sequence

import numpy as np

from benchmarks.mine.results import Line

#: The systems that say something of themselves, and the same on permuted classes.
_SAYING = {"tamis": "tamis permuted", "tamis nested": "tamis nested permuted", "before": None}

#: Half the width of a 95 % interval, in standard errors.
_WIDTH = 1.96


def estimates(lines: Sequence[Line]) -> str:
    """A table in Markdown, a row a set: fresh error and estimate, in the mean of the re-splits; nothing without runs.

    With its interval an estimate covers the error on the fresh rows if the two differ by no more than 1.96 standard
    errors; that of the fresh rows, which are few, is a part of it.
    """
    known = [line for line in lines if line.honest is not None and not line.error]
    systems = [one for one in _SAYING if any(line.system == one for line in known)]
    if not systems:
        return ""
    permuted = [other for one in systems if (other := _SAYING[one]) and any(line.system == other for line in known)]
    head = ["data", *(f"{one}: {what}" for one in systems for what in ("fresh", "says", "covers")), *permuted]
    rows = [_row(name, systems, permuted, known) for name in dict.fromkeys(line.set for line in known)]
    drawn = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    text = "\n".join([drawn[0], "|---" * len(head) + "|", *drawn[1:]])
    return "\n".join([text, "", *(_summary(one, known) for one in systems), *(_chance(one, known) for one in permuted)])


def _row(name: str, systems: Sequence[str], permuted: Sequence[str], known: Sequence[Line]) -> list[str]:
    cells = [name]
    for one in systems:
        own = [line for line in known if (line.set, line.system) == (name, one)]
        fresh, says = ([getattr(line, what) for line in own] for what in ("ber", "honest"))
        cells += [_percent(fresh), _percent(says), f"{sum(map(_covers, own))} of {len(own)}" if own else ""]
    for one in permuted:
        own = [line for line in known if (line.set, line.system) == (name, one)]
        chance = f" of {100 * (1 - 1 / own[0].classes):.1f}" if own and own[0].classes > 2 else ""
        cells.append(_percent([line.honest for line in own]) + chance)
    return cells


def _percent(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{100 * np.mean(known):.1f}" if known else ""


def _covers(line: Line) -> bool:
    """Whether the interval of the estimate covers the fresh error, whose own noise is that of a share of the rows."""
    assert line.honest is not None
    # Of a balanced error of classes of one size; smaller ones make it larger.
    noise = line.ber * (1 - line.ber) / line.fresh_rows
    se = np.hypot(line.honest_se or 0.0, np.sqrt(noise))
    return bool(abs(line.honest - line.ber) <= _WIDTH * se + 1e-12)


def _summary(system: str, known: Sequence[Line]) -> str:
    """How far the estimates are from the fresh errors, every set with the same weight, and how many cover them."""
    own = [line for line in known if line.system == system]
    gaps = 100 * np.array([(line.honest or 0.0) - line.ber for line in own])
    names = np.array([line.set for line in own])
    means = [float(gaps[names == name].mean()) for name in dict.fromkeys(names)]
    se = float(np.std(means, ddof=1) / np.sqrt(len(means))) if len(means) > 1 else float("nan")
    covered = f"{sum(map(_covers, own))} of {len(own)}"
    return (
        f"- What {system} says less its error on the fresh rows: {np.mean(means):+.1f} points in the mean of "
        f"{len(means)} sets (standard error {se:.1f}); the interval covers the fresh error in {covered} runs."
    )


def _chance(system: str, known: Sequence[Line]) -> str:
    own = [100 * (line.honest or 0.0) for line in known if line.system == system and line.classes == 2]
    if not own:
        return f"- {system}: no set of two classes."
    se = float(np.std(own, ddof=1) / np.sqrt(len(own))) if len(own) > 1 else float("nan")
    return f"- {system}: {np.mean(own):.1f} in the mean of {len(own)} runs of two classes (standard error {se:.1f})."
