"""Studies of documents: clusters of them, and how well these agree with their classes."""
