"""The channel of Redis on which versions are announced, and the key under which the last one stays. It knows no database."""

CHANNEL = "candor.news."
"""With the key of the study after it."""
