"""Published experiments, run again: one file for the study of each paper, found by looking through the folder.

A study is a module with a constant ``STUDY``; what studies share is in :mod:`tamis.reproduce.framework`.
"""

from tamis.reproduce.framework.find import studies
from tamis.reproduce.framework.run import Reproduction, draw, run

__all__ = ["Reproduction", "draw", "run", "studies"]
