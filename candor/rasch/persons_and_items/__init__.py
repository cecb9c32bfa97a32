"""A baseline for comparison: Laplace noise on the score of every person and the total of every item, corrected."""
