"""The analysis app."""

from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = "analysis"

    def ready(self) -> None:
        from analysis.services import refresh_when_answers_change
        from surveys.events import answers_changed

        answers_changed.connect(refresh_when_answers_change, dispatch_uid="analysis.refresh")
