"""A sum over people, of whom each adds a whole number within bounds; a count, where each adds 0 or 1."""
