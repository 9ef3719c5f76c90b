"""The NIPS 2003 feature selection challenge: its measures, its tournament and its entries' files."""

from tamis.challenge.score import EntryScore, Submission, score_entry, score_submission
from tamis.challenge.submission import make_submission, read_submission, write_submission
from tamis.challenge.tournament import Match, Standings, match, tournament

__all__ = [
    "EntryScore",
    "Match",
    "Standings",
    "Submission",
    "make_submission",
    "match",
    "read_submission",
    "score_entry",
    "score_submission",
    "tournament",
    "write_submission",
]
