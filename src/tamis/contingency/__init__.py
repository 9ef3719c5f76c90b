"""Columns as a few states, class-by-state tables, counts of words, and the information in them."""
