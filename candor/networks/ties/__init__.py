"""How many students have how many friends, and how close these are."""
