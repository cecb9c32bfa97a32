"""Announces new results to the process that holds the connections of open pages. Nothing waits for it, and nothing rests on it.

Only workers announce, when they have stored results of a whole batch or renewed numbers. A withdrawal is not announced: its moment is a
person's.
"""

import logging
from functools import cache, partial
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction

from analysis.news.channel import CHANNEL
from analysis.news.versions import version_of_results
from surveys.models import Study

if TYPE_CHECKING:
    from redis import Redis

KEPT_SECONDS = 24 * 60 * 60
PATIENCE = 0.5

logger = logging.getLogger(__name__)


def announce(study_id: int) -> None:
    """Tell open pages, once the transaction is committed, that there is something new."""
    if settings.PUSH:
        transaction.on_commit(partial(_announce, study_id))


def _announce(study_id: int) -> None:
    study = Study.objects.defer("definition").filter(pk=study_id).first()
    if study is None:
        return
    from redis.exceptions import RedisError

    version, name = version_of_results(study), f"{CHANNEL}{study_id}"
    try:
        redis = _redis()
        redis.set(name, version, ex=KEPT_SECONDS)
        redis.publish(name, version)
    except RedisError:
        logger.debug("Redis is away; open pages ask for themselves")


@cache
def _redis() -> "Redis":
    assert settings.PUSH
    return settings.PUSH.client(socket_connect_timeout=PATIENCE, socket_timeout=PATIENCE)
