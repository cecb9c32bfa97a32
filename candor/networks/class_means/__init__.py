"""How close the circles are, on average over public classes."""
