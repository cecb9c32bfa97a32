"""Means of people in groups: for each group a sum of distances from the middle, and a count, both with noise."""
