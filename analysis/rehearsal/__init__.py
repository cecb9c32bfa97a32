"""The rehearsal page: what was planted in a run of bots, and what the analysis found of it."""
