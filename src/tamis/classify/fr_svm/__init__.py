"""FR-SVM: principal components, a few of them chosen for every pair of classes, and a small machine on these."""

from tamis.classify.fr_svm.fr_svm import FRSVM as FRSVM
