"""Regressors; one file a regressor."""

from tamis.base.part import room

__getattr__, __dir__ = room(__name__)
