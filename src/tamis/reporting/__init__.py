"""Reports: the facts of a run as one plain dict, its figures described once, and the views that draw them."""
