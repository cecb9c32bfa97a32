"""Numbers for a monitoring program at /metrics: off unless a token is set, and no number follows a single participant."""
