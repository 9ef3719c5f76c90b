"""The search beside its peers: rows, systems, results. ``python -m benchmarks mine`` runs them."""
