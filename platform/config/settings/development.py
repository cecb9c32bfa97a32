"""The embedded default: nothing to install. SQLite under var/, worker and beat as threads of the web process, memory broker."""

import os

import dj_database_url

from .base import *  # noqa: F403
from .base import DATABASE_POOLED, PREPARED_STATEMENTS, VAR_DIR
from .secrets import installation_secret

SECRET_KEY = os.environ.get("SECRET_KEY") or installation_secret(VAR_DIR / "secret_key")
DEBUG = False
ALLOWED_HOSTS = os.environ.get("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]").replace(" ", "").split(",")
MEDIA_ROOT = os.environ.get("MEDIA_ROOT", str(VAR_DIR / "media"))

DATABASES = {"default": dj_database_url.config(default=f"sqlite:///{VAR_DIR / 'candor.sqlite3'}", conn_max_age=None)}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON;",
    }
else:
    DATABASES["default"] |= {"OPTIONS": {**PREPARED_STATEMENTS}, "DISABLE_SERVER_SIDE_CURSORS": DATABASE_POOLED}

DEMONSTRATIONS = True
WEBHOOKS_MAY_STAY_PRIVATE = True
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
WHITENOISE_USE_FINDERS = True  # nothing is collected: the files are served from where they are

CELERY_BROKER_URL = "memory://localhost/"
CELERY_BROKER_TRANSPORT_OPTIONS = {"polling_interval": 0.05}  # the default costs one second per task
