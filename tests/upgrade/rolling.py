"""The oldest code that may run beside ours while an installation is brought up to date without a pause."""

OLDEST = "7fb8c1fbf5d591a3e7700c91af2fb62707a0054e"
"""A commit. Only code before it read columns that are gone. It moves on with a release."""
