"""Transforms: estimators that change the values or the number of columns; one file a transform."""

from tamis.base.part import room

__getattr__, __dir__ = room(__name__)
