"""What the readers share: their contract, and the steps from text, tables and matrices to a data set."""
