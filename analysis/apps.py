"""The analysis app."""

from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = "analysis"

    def ready(self) -> None:
        from analysis.releases import building as building  # registers what workers do
        from analysis.releases.services import discard_outdated_when_answers_change
        from analysis.runs import runner as runner  # registers what workers do
        from analysis.services import refresh_when_answers_change, refresh_when_closed, stop_when_data_are_forgotten
        from surveys.events import answers_changed, operational_data_forgotten, study_closed

        answers_changed.connect(refresh_when_answers_change, dispatch_uid="analysis.refresh")
        study_closed.connect(refresh_when_closed, dispatch_uid="analysis.closed")
        operational_data_forgotten.connect(stop_when_data_are_forgotten, dispatch_uid="analysis.forget")
        answers_changed.connect(discard_outdated_when_answers_change, dispatch_uid="analysis.releases")
