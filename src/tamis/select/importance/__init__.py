"""Importance: how much the predictions of a model change when one column takes the values it has in other rows."""

from tamis.select.importance.importance import Importance as Importance
