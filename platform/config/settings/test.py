"""Tests: the embedded settings, on the database and broker that the tests started (DATABASE_URL, REDIS_URL) or on SQLite in memory."""

import os

os.environ.setdefault("DATABASE_URL", "sqlite:///:memory:")
os.environ.setdefault("SECRET_KEY", "only-for-tests")  # not a secret: never used outside the test suite

from .development import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if "REDIS_URL" in os.environ:
    CELERY_BROKER_URL = os.environ["REDIS_URL"]
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": os.environ["REDIS_URL"]}}
