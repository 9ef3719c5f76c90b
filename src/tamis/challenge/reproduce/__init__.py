"""The published tables of two challenge entries, run again on the data at hand."""

from tamis.challenge.reproduce.fs_svm import FS_SVM
from tamis.challenge.reproduce.ghostminer import GHOSTMINER
from tamis.challenge.reproduce.results import Results
from tamis.challenge.reproduce.run import Outcome, run_rows
from tamis.challenge.reproduce.table import Published, Row, Table

#: The tables by the name of their paper's method.
TABLES = {table.name: table for table in (GHOSTMINER, FS_SVM)}

__all__ = ["FS_SVM", "GHOSTMINER", "TABLES", "Outcome", "Published", "Results", "Row", "Table", "run_rows"]
