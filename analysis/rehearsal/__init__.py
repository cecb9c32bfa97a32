"""The rehearsal page: what was planted in a crowd of bots, and what the analysis found of it."""
