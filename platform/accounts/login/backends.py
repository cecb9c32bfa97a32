"""Password checks that slow down repeated guessing."""

import hashlib
from contextlib import suppress

from django.contrib.auth.backends import ModelBackend
from django.core.cache import cache
from django.http import HttpRequest

from accounts.errors import TooManyAttemptsError
from accounts.models import User
from accounts.services import record_refused_login

ATTEMPTS = 20
PERIOD_SECONDS = 15 * 60


class SlowedBackend(ModelBackend):
    """After 20 failures for one name within 15 minutes, nobody can log in under it until they are over."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: object
    ) -> User | None:
        key = "login-failures:" + hashlib.sha256((username or "").lower().encode()).hexdigest()
        cache.add(key, 0, PERIOD_SECONDS)
        if cache.get(key, 0) >= ATTEMPTS:
            record_refused_login(username or "")
            raise TooManyAttemptsError
        user = super().authenticate(request, username=username, password=password, **kwargs)
        if user is None:
            with suppress(ValueError):  # the 15 minutes ended just now
                cache.incr(key)
            return None
        cache.delete(key)
        assert isinstance(user, User)
        return user
