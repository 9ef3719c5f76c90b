"""Complex models as text: the catalog of parts and the recipe language over it."""
