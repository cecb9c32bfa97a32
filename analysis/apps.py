"""The analysis app."""

from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = "analysis"

    def ready(self) -> None:
        from analysis.services import refresh_when_answers_change, stop_when_data_are_forgotten
        from surveys.events import answers_changed, operational_data_forgotten

        answers_changed.connect(refresh_when_answers_change, dispatch_uid="analysis.refresh")
        operational_data_forgotten.connect(stop_when_data_are_forgotten, dispatch_uid="analysis.forget")
