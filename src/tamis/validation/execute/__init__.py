"""A plan of models through the splits: one driver, one fold at a time."""
