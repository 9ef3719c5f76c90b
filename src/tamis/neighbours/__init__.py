"""Distances of rows scaled by the ranges of their columns, and Relief's weights."""
