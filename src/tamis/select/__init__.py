"""Selectors: estimators that end in a set of features; one file a selector."""

from tamis.base.part import room

__getattr__, __dir__ = room(__name__)
