"""Sets of columns and what they are worth: the measures of subset search, and the search that all strategies share."""
