"""Password checks that slow down repeated guessing, without letting guessers lock anybody out of the device where they work."""

from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from accounts.attempts import forget_attempts, give_attempt_back, take_attempt
from accounts.errors import TooManyAttemptsError, TooManyLoginsError
from accounts.login.devices import known_device
from accounts.login.places import FOR_KNOWN_DEVICES, FOR_STRANGERS
from accounts.models import User
from accounts.names import folded
from accounts.services import record_crowded_login, record_refused_login

ATTEMPTS = 20
LOGIN = "login"


class SlowedBackend(ModelBackend):
    """Twenty wrong passwords within 15 minutes: for each known device of an account, and for all other devices of a name together."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: object
    ) -> User | None:
        name, device = username or "", known_device(request, username or "")
        counted = LOGIN, f"{folded(name)} {device}"
        try:
            with (FOR_KNOWN_DEVICES if device else FOR_STRANGERS).one():
                # Counted before the check, or simultaneous attempts would all pass.
                if not take_attempt(*counted, at_most=ATTEMPTS):
                    record_refused_login(name)
                    raise TooManyAttemptsError
                user = super().authenticate(request, username=username, password=password, **kwargs)
        except TooManyLoginsError:
            record_crowded_login()
            raise
        if user is None:
            return None
        # The right password forgives the slips of its own device. A guesser's count must not begin anew with each login elsewhere.
        (forget_attempts if device else give_attempt_back)(*counted)
        assert isinstance(user, User)
        return user
