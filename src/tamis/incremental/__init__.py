"""Machinery that evaluates sets of columns which differ by one, without a fit for each."""
