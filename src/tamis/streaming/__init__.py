"""Tables that need not fit into memory: scores in one pass over the file, and the columns that they select."""
