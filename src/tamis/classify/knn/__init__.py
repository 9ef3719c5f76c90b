"""Nearest neighbours: the class most common among the k nearest training rows."""

from tamis.classify.knn.knn import KNN as KNN
