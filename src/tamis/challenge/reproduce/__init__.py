"""Published tables, run again on the data at hand."""

from tamis.challenge.reproduce.binning import BINNING
from tamis.challenge.reproduce.contrasts import CONTRASTS
from tamis.challenge.reproduce.convex_networks import CONVEX_NETWORKS
from tamis.challenge.reproduce.esnb import ESNB
from tamis.challenge.reproduce.fr_svm import FR_SVM
from tamis.challenge.reproduce.fs_svm import FS_SVM
from tamis.challenge.reproduce.ghostminer import GHOSTMINER
from tamis.challenge.reproduce.mdl_histogram import MDL_HISTOGRAM
from tamis.challenge.reproduce.mrmr import MRMR
from tamis.challenge.reproduce.results import Results
from tamis.challenge.reproduce.run import run_rows
from tamis.challenge.reproduce.study import Study, run_study
from tamis.challenge.reproduce.table import Published, Row, Table
from tamis.challenge.reproduce.work import Outcome

#: Tables of one model a line, by the name of their paper's method.
TABLES = {table.name: table for table in (GHOSTMINER, FS_SVM)}

#: Other experiments, by the name of their paper's method.
STUDIES = {study.name: study for study in (MRMR, CONTRASTS, FR_SVM, CONVEX_NETWORKS, ESNB, BINNING, MDL_HISTOGRAM)}

__all__ = [
    "BINNING",
    "CONTRASTS",
    "CONVEX_NETWORKS",
    "ESNB",
    "FR_SVM",
    "FS_SVM",
    "GHOSTMINER",
    "MDL_HISTOGRAM",
    "MRMR",
    "STUDIES",
    "TABLES",
    "Outcome",
    "Published",
    "Results",
    "Row",
    "Study",
    "Table",
    "run_rows",
    "run_study",
]
