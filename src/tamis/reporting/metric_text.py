"""Metrics as text: those in units of the target with four digits, all others with a fixed number of decimals."""

from collections.abc import Mapping
from math import floor, isfinite, log10
from typing import Any

#: Metrics that have the units of the target.
_IN_UNITS = ("rmse", "mae")

#: Sizes between which a number is written in full.
_SMALL, _LARGE = 1e-5, 1e12


def in_units(metric: str) -> bool:
    """Whether a metric, by its name, has the units of the target."""
    return metric in _IN_UNITS


def metric_text(metric: str, value: float | None, decimals: int = 3, *, unknown: str = "unknown") -> str:
    """A value of a metric, which is given by its name.

    Examples
    --------
    >>> metric_text("ber", 0.25), metric_text("rmse", 54.1234), metric_text("r2", None)
    ('0.250', '54.12', 'unknown')
    """
    if value is None or not isfinite(value):
        return unknown
    return significant(value) if in_units(metric) else f"{value:z.{decimals}f}"


def significant(value: float, digits: int = 4) -> str:
    """A number with some digits, in full unless it is very small or very large; a whole number as it is.

    Examples
    --------
    >>> significant(54.1234), significant(0.00123456), significant(1234567.8), significant(76.98, 2), significant(25.0)
    ('54.12', '0.001235', '1,234,568', '77', '25')
    """
    size = abs(value)
    if size >= _LARGE or 0 < size < _SMALL:
        return f"{value:.{digits}g}"
    if value == floor(value):
        return f"{value:,.0f}"
    return f"{value:,.{max(0, digits - 1 - floor(log10(size)))}f}"


def hover_format(metric: str) -> str:
    """The same as plotly's format of a hover text."""
    return ",.4~r" if in_units(metric) else ".3f"


def axis_title(metric: Mapping[str, Any], more: str = "") -> str:
    """The title of an axis of a metric (:func:`tamis.reporting.answer.metric_facts`).

    Examples
    --------
    >>> axis_title({"name": "rmse", "title": "RMSE"}), axis_title({"name": "ber", "title": "BER"}, " (mean)")
    ('RMSE in units of the target', 'BER (mean)')
    """
    return f"{metric['title']}{' in units of the target' if in_units(metric['name']) else ''}{more}"
