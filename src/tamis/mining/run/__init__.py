"""The run on disk: one SQLite file."""
