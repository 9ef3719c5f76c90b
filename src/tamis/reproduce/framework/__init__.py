"""What the studies share: pieces of work, tables of models, the file of results, the run."""
