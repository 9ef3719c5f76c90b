"""Outlying subspaces: the columns in which given rows are unlike their neighbours."""
