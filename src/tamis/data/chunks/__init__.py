"""Tables that are read piece by piece, because they need not fit into memory."""
