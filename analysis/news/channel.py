"""The channel of Redis on which versions are announced, and the key under which the last one stays. It knows no database."""

from django.utils.crypto import salted_hmac

CHANNEL = f"candor.news.{salted_hmac('analysis.news.channel', '').hexdigest()[:12]}."
"""With the key of the study after it. Two installations that share a Redis have different ones."""
