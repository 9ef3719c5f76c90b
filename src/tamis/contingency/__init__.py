"""Columns as a few states, class-by-state tables, and the information in them."""
