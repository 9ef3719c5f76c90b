"""Classifiers; one file a classifier."""

from tamis.base.part import room

__getattr__, __dir__ = room(__name__)
