"""Machinery of the scores by near rows: distances within ranges, and Relief's weights."""
