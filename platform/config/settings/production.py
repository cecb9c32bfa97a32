"""Production: PostgreSQL, Redis, nginx in front. Everything comes from the environment; a missing variable stops the start and is named."""

import os

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from . import media
from .base import *  # noqa: F403
from .base import DATABASE_POOLED, MIDDLEWARE, PREPARED_STATEMENTS, SITE_URL, VAR_DIR
from .redis_address import redis_address

REQUIRED = ("SECRET_KEY", "DATABASE_URL", "REDIS_URL", "ALLOWED_HOSTS", "MEDIA_ROOT")
if missing := [name for name in REQUIRED if not os.environ.get(name, "").strip(", ")]:
    raise ImproperlyConfigured(f"Production settings need the environment variables {', '.join(REQUIRED)}; missing: {', '.join(missing)}.")

SECRET_KEY = os.environ["SECRET_KEY"]
DEBUG = False
ALLOWED_HOSTS = [host for part in os.environ["ALLOWED_HOSTS"].split(",") if (host := part.strip())]
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS if host not in {"*", "localhost", "127.0.0.1"}]
SITE_URL = SITE_URL or next((f"https://{host}" for host in ALLOWED_HOSTS if not host.startswith(("*", "."))), "")
MEDIA_ROOT = os.environ["MEDIA_ROOT"]
MEDIA_ACCEL_PREFIX = os.environ.get("MEDIA_ACCEL_PREFIX", "")

# Each thread keeps its connection. No check before each request: it costs 65 µs of processor time, and without it a restart of PostgreSQL
# costs each process one failed request, after which all its threads connect anew (`config.outages.waits`). (A new connection per request
# costs 3 ms. A pool would cost 40 µs and three more threads in each process: the threads of a web process are a fixed number, so that there
# is nothing to share.)
try:
    DATABASES = {"default": dj_database_url.config(conn_max_age=None)}
except ValueError:  # its text may hold the password
    raise ImproperlyConfigured("DATABASE_URL: expected postgresql://user:password@host:5432/name.") from None
if DATABASES["default"]["ENGINE"].endswith("postgresql"):
    # A database server that vanished without a word is noticed within seconds, not after the system's two hours.
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": 3,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 25_000,
        **PREPARED_STATEMENTS,
        **DATABASES["default"].get("OPTIONS", {}),
    }
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = DATABASE_POOLED
REDIS = redis_address(
    os.environ["REDIS_URL"],
    ca_file=os.environ.get("REDIS_CA_FILE", ""),
    sentinel_password=os.environ.get("REDIS_SENTINEL_PASSWORD", ""),
)
REPLICA = os.environ.get("CANDOR_REPLICA_URL", "")
if REPLICA:
    if not REPLICA.startswith(("postgresql://", "postgres://")) or os.environ["DATABASE_URL"] == REPLICA:
        raise ImproperlyConfigured(
            "CANDOR_REPLICA_URL: expected postgresql:// and the address of a server that copies that of DATABASE_URL."
        )
    copied = dj_database_url.parse(REPLICA, conn_max_age=None)
    options = {**DATABASES["default"].get("OPTIONS", {}), **copied.get("OPTIONS", {})}
    DATABASES["replica"] = {**DATABASES["default"], **copied, "OPTIONS": options}
    DATABASE_ROUTERS = ["config.replica.router.ReplicaRouter"]
    MIDDLEWARE = [*MIDDLEWARE, "config.replica.middleware.ReplicaMiddleware"]
CACHES = {"default": {"BACKEND": "config.outages.cache.CacheThatFallsBack", **REDIS.cache(socket_connect_timeout=0.5, socket_timeout=1)}}
PUSH = REDIS if os.environ.get("PUSH", "0") == "1" else None
METRICS_PROCESSES = True
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": media.STORAGE,
    "staticfiles": {"BACKEND": "config.static_files.HashedStaticFiles"},
}

SECURE_SSL_REDIRECT = os.environ.get("SECURE_SSL_REDIRECT", "1") == "1"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
# Browsers take cookies of these names from an encrypted page of this very host only, so that no neighbouring host plants one.
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"

CELERY_BROKER_URL, BROKER_OPTIONS = REDIS.broker(socket_connect_timeout=1)
CELERY_BROKER_USE_SSL = REDIS.tls or False
# A participant's submit must not wait for an absent broker: the database holds the work to do, and the sweep will find it.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    **BROKER_OPTIONS,
    "queue_order_strategy": "priority",
    "max_retries": 1,
    "interval_start": 0.1,
    "interval_step": 0,
    "interval_max": 0.1,
}
