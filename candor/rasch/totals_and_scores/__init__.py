"""The default release: how many solved each item, and how many have each score, with discrete Gaussian noise."""
