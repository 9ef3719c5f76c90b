"""Naive Bayes: evidence that adds up over columns, states of levels, and selection of columns."""
