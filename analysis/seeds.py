"""The server's part of a bootstrap's seed: the page and the release of the same answers show the same numbers."""

from django.utils.crypto import salted_hmac

SEED_KEY = salted_hmac("analysis.seeds", "").digest()
"""Without it a blinded reader could try which arm's counts give the seed that the page shows."""
