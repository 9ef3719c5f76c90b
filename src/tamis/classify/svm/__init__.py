"""Support vector machine: the widest margin between classes, in the space of a kernel."""

from tamis.classify.svm.svm import SVM as SVM
