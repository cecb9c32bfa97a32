"""allauth's app, without its insistence on its own middleware: ours wraps it and keeps it away from participants."""

from allauth.account.apps import AccountConfig


class LoginConfig(AccountConfig):  # type: ignore[misc]
    def ready(self) -> None:
        from allauth.account import checks  # noqa: F401
