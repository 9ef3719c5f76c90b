"""Published experiments, run again on the data at hand: one file a paper's study, found by looking through the room.

A study is a module with a constant ``STUDY``; what studies share is in :mod:`tamis.reproduce.framework`.
"""

from tamis.reproduce.framework.find import studies
from tamis.reproduce.framework.run import Reproduction, draw, run

__all__ = ["Reproduction", "draw", "run", "studies"]
