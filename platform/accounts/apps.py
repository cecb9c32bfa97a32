from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts.login import receivers  # noqa: F401
        from accounts.repeated import services  # noqa: F401  registers what workers do
