"""Tests between models on the same splits."""
