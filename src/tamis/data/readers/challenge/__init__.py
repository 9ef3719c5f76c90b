"""Files of the NIPS 2003 challenge."""

from tamis.data.readers.challenge.challenge import name_of, reader

__all__ = ["name_of", "reader"]
