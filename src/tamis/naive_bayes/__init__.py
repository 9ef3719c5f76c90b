"""Machinery that the forms of naive Bayes share."""
