"""Mutated files, recipes and models: how they are made, and what each is tried with."""
