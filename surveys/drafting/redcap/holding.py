"""Conditions that were read from branching logic, held against each other."""

from pydantic import TypeAdapter

from surveys.drafting.redcap.reading import SHOWN_IF, ReportDocument
from surveys.questions.background import BackgroundQuestion, require_fitting
from surveys.reading.words import sentence as _


def require_conditions_that_hold(report: ReportDocument) -> None:
    """Takes all conditions out of the report's questions where some contradict each other, and notes that."""
    try:
        require_fitting(TypeAdapter(tuple[BackgroundQuestion, ...]).validate_python(report["questions"]))
    except ValueError:
        for question in report["questions"]:
            question.pop("show_if", None)
        contradiction = _("It is always shown: conditions in this file contradict each other, so that none was taken over.").document()
        for line in report["taken"]:
            line["notes"] = [contradiction if note["words"] == SHOWN_IF else note for note in line["notes"]]
