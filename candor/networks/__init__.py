"""Statistics of who learns with whom, from each student's own circle: how many friends, and how many pairs of them are friends."""
