"""Multivariate time series: reading them, tables of their correlations, and which variables tell classes apart."""

from tamis.series.choice import VariableChoice, choose_variables
from tamis.series.exhaustive import every_subset
from tamis.series.load import load
from tamis.series.planted import planted
from tamis.series.running import RunningCorrelations
from tamis.series.series import Series

__all__ = ["RunningCorrelations", "Series", "VariableChoice", "choose_variables", "every_subset", "load", "planted"]
