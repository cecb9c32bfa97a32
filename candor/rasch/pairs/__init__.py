"""The private spectral release: how many solved one item and not another, for pairs of items."""
