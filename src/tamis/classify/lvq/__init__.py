"""Learning vector quantization: the nearest of a few prototypes of each class."""

from tamis.classify.lvq.lvq import LVQ as LVQ
