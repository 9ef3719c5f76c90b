"""MDL histogram: axes are halved as often as that shortens the code of the class labels."""

from tamis.classify.mdl_histogram.mdl_histogram import MDLHistogram as MDLHistogram
