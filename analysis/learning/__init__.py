"""Learning analytics under a privacy budget: the budget itself, and what may be computed with it."""
