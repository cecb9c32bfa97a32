"""Outages in the log: one line an hour for each kind and process, however many people meet it."""

import logging
import time

logger = logging.getLogger(__name__)
QUIET_SECONDS = 60 * 60
_told: dict[str, float] = {}


def log_outage(kind: str) -> None:
    """Tell administrators at the first request that fails; the next ones would only tell when somebody was there."""
    now = time.monotonic()
    if now - _told.get(kind, -QUIET_SECONDS) >= QUIET_SECONDS:
        _told[kind] = now
        logger.error("Pages are answered by 503 or 507: %s. Not told again within the hour; /healthz tells how it goes on.", kind)
