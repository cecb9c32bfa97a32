"""The report of `make prove`: which promises were tried, how, and what was found; signed by this installation and shown to everybody."""
