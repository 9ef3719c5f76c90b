"""Classes from Dirichlet diffusion trees over the training rows, drawn from their posterior."""

from tamis.classify.diffusion_tree.diffusion_tree import DiffusionTree as DiffusionTree
