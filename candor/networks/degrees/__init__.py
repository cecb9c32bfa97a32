"""How many students have how many friends."""
