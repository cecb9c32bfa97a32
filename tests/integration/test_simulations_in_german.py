"""Rehearsals and diagnoses in German: no sentence stays English, and numbers are written as German writes them."""

import pytest
from django.urls import reverse
from django.utils.translation import override

from analysis.models import Diagnosis
from candor.arguments import share_in_arm
from surveys.bots import rehearsal
from surveys.models import BotRun, Study
from tests.api_requests import post
from tests.categories import FREQUENCY, with_frequency
from tests.factories import draft_study, logged_in, page_of
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


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bots": 5001}, "Erwartet werden 1 bis 5.000 Bots, gefunden wurden 5.001."),
        ({"prevalence": 0.9, "effect": 0.25}, "Häufigkeit und Effekt zusammen müssen zwischen 0 und 1 liegen, gefunden wurde 1,15."),
        ({"cheater_proportion": 1.1}, "Erwartet wird ein Anteil von 0 bis 1, gefunden wurde 1,1."),
        ({"drops_out": -0.5}, "Erwartet wird ein Anteil von 0 bis 1, gefunden wurde -0,5."),
        ({"under_reports": 0.2}, "Diese Studie fragt niemanden ohne Würfel, also kann dort niemand ein Ja leugnen."),
    ],
    ids=str,
)
def test_a_rehearsal_that_is_not_possible_says_so_in_german(changes: dict[str, float], said: str) -> None:
    study = draft_study()
    with override("de"), pytest.raises(rehearsals.RehearsalError) as refused:
        rehearsals.start(study, **changes)
    assert str(refused.value) == said
    with override("de"):
        assert str(refused.value.title) == "Dieser Probelauf ist nicht möglich"


@pytest.mark.parametrize(("name", "model"), [("rehearsal", BotRun), ("diagnosis", Diagnosis)])
def test_what_makes_a_hundred_on_the_page_is_not_refused_as_more_than_one(name: str, model: type[BotRun] | type[Diagnosis]) -> None:
    """91.93 / 100 and 8.07 / 100 are more than 1 in a computer: the page said that 1 does not lie between 0 and 1."""
    study = draft_study()
    page = reverse(f"analysis:{name}", args=[study.slug])
    reader = german(study.owner)
    sent = {one.get("name"): one.get("value") for one in page_of(reader.get(page)).xpath("//form//input[@type='text']")}
    answer = reader.post(page, sent | {"action": "start", "behaviour": "always_no", "prevalence": "91,93", "effect": "8,07"})
    assert answer.status_code == 302, page_of(answer).text_content()
    stored = model.objects.get()
    assert (round(stored.prevalence, 9), share_in_arm(stored.prevalence, stored.effect)) == (0.9193, 1)


@pytest.mark.parametrize(
    ("prevalence", "effect", "status"),
    [(91.93 / 100, 8.07 / 100, 202), (0.3, -(0.1 + 0.2), 202), (0.9193, 0.0808, 400), (0.3, -0.30001, 400)],
)
@pytest.mark.parametrize(("name", "model"), [("rehearsal", BotRun), ("diagnosis", Diagnosis)])
def test_programs_keep_the_same_rule(
    name: str, model: type[BotRun] | type[Diagnosis], prevalence: float, effect: float, status: int
) -> None:
    """A program that divided by a hundred was told that 1 does not lie between 0 and 1."""
    study = draft_study()
    answer = post(logged_in(study.owner), f"studies/{study.slug}/{name}/", {"prevalence": prevalence, "effect": effect})
    assert answer.status_code == status, answer.content.decode()
    assert model.objects.exists() == (status == 202)


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
