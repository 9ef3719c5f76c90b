"""Importance: how far the answers of any classifier move when a column takes the values that it has elsewhere."""

from tamis.select.importance.importance import Importance

__all__ = ["Importance"]
