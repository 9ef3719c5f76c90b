"""Validation of models for rows that have several labels each."""
