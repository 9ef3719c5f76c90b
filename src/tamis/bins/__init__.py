"""Discretization: the contract of a method, cuts, distinct values and groups of levels."""
