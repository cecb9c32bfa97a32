"""Tests: the embedded settings, on the database and broker that the tests started (DATABASE_URL, REDIS_URL) or on SQLite in memory."""

import os

os.environ.setdefault("DATABASE_URL", "sqlite:///:memory:")
os.environ.setdefault("SECRET_KEY", "only-for-tests")  # not a secret: never used outside the test suite

from .development import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if "REDIS_URL" in os.environ:
    # Each parallel test process has a Redis database of its own, as pytest-django gives it a PostgreSQL database of its own.
    CELERY_BROKER_URL = os.environ["REDIS_URL"].removesuffix("/0") + "/" + os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    CACHES = {"default": {"BACKEND": "config.outages.cache.CacheThatFallsBack", "LOCATION": CELERY_BROKER_URL}}
