"""Reports: the facts of a run as one plain dict, and the views that draw it."""
