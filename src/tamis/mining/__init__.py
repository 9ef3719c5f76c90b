"""The search for the complex model: stages over a run file, by an engine, within a budget."""
