"""The surveys app."""

from django.apps import AppConfig


class SurveysConfig(AppConfig):
    name = "surveys"

    def ready(self) -> None:
        from surveys import tasks as tasks  # registers what workers do
