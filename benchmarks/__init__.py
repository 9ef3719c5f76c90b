"""Benchmarks: each file times tamis beside what a user would otherwise pick, in one run, and prints the ratio.

``make bench`` runs them all; ``python -m benchmarks scores`` runs one.
"""
