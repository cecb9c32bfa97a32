"""Rehearsals and diagnoses in German: no sentence stays English, and numbers are written as German writes them."""

import pytest
from django.urls import reverse

from analysis.models import Diagnosis
from surveys.bots import rehearsal
from surveys.models import BotRun, Study
from tests.categories import FREQUENCY, with_frequency
from tests.factories import draft_study, page_of
from tests.integration import test_diagnosis as diagnoses
from tests.integration import test_rehearsal as rehearsals
from tests.integration.test_builder_in_german import content_of
from tests.integration.test_staff_language import german, must_be_german
from tests.integration.test_study_pages_in_german import Act, posted
from tests.jobs import catch

pytestmark = pytest.mark.usefixtures("transactional_db")
WRONG = {"action": "start", "prevalence": "90", "effect": "20", "cheaters": "x", "dropout": "99", "behaviour": "none", "answer": "none"}


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> None:
    """The messages to the broker, collected instead of sent. One bot walks at a time, because all share the test's database in memory."""
    monkeypatch.setattr(rehearsal, "WORKERS", 1)
    catch(monkeypatch)


def pages_of(study: Study, name: str) -> list[str | Act]:
    page = reverse(f"analysis:{name}", args=[study.slug])
    return [page, posted(page, **WRONG), posted(page, action="stop"), posted(page, action="delete")]


def test_a_rehearsal_is_german_as_a_whole() -> None:
    study = draft_study(questions=with_frequency(), direct_group={"share": 0.5, "consent": "May we?"}, background=None, quiz=None)
    page, content = reverse("analysis:rehearsal", args=[study.slug]), content_of(study)
    must_be_german(study.owner, pages_of(study, "rehearsal"), content)
    crowd = rehearsals.start(study, bots=60, under_reports=0.2)
    must_be_german(study.owner, [page], content)
    rehearsals.turns(crowd)
    rehearsals.computed(crowd.study)
    must_be_german(study.owner, [page], content)
    shown = page_of(german(study.owner).get(page))
    assert "Häufigkeit 0,40, Effekt 0,20, Anteil ohne Würfelfolgen 0,10" in shown.text_content()
    assert not [cell for cell in shown.xpath("//tbody//td/text()") if "." in cell]
    for status in ("stopped", "failed"):
        BotRun.objects.update(status=status, error="UnexpectedPageError: a page of nobody")
        must_be_german(study.owner, [page], content)


def test_a_diagnosis_is_german_as_a_whole() -> None:
    study = draft_study(questions=[*with_frequency(), FREQUENCY | {"name": "again"}])
    page, content = reverse("analysis:diagnosis", args=[study.slug]), content_of(study)
    must_be_german(study.owner, pages_of(study, "diagnosis"), content)
    found = diagnoses.start(study, studies=100, answer="copying/often")
    must_be_german(study.owner, [page], content)
    diagnoses.turns(found)
    must_be_german(study.owner, [page], content)
    assert page_of(german(study.owner).get(page)).xpath("//progress") == []
    for status in ("stopped", "failed"):
        Diagnosis.objects.update(status=status, error="ValueError: nothing of nobody")
        must_be_german(study.owner, [page], content)
