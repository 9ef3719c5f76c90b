"""Text as coded words: what parts for text share, and clusters of documents."""
