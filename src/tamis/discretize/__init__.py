"""Discretisation: ways to cut columns into bins, one file a way, and the transform that applies them."""

from tamis.base.part import room

__getattr__, __dir__ = room(__name__)
