"""A question without an answer tells why, in the reader's language, and says the truth about its charge."""

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone, translation

from accounts.models import Role
from analysis.ledger import remembered, services
from analysis.ledger.errors import ALL, reason_in_words
from analysis.ledger.selectors import asked_before
from analysis.models import Asking, ChargeStep, Reached, Snapshot, Source
from jobs import tasks
from tests.back_ups import lost_with_the_back_up
from tests.factories import logged_in, page_of, person
from tests.jobs import claimed, fall_silent, work_on
from tests.ledgers import asked_and_answered, budget_of, open_source, solved

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = str(tmp_path)


@pytest.fixture
def source() -> Source:
    return open_source()


def asked(source: Source) -> Asking:
    found: Asking = services.ask(source, solved(rho=0.001), actor=source.study.owner).charge.asking
    return found


def reasons(source: Source) -> tuple[str, str]:
    """The reason of the only question, in English and in German."""
    [english] = asked_before(budget_of(source))
    with translation.override("de"):
        [german] = asked_before(budget_of(source))
    return english.reason, german.reason


def test_a_charge_whose_noise_is_lost_is_not_said_to_be_unspent(source: Source) -> None:
    """The worker died after the charge was drawn. The sentence ended with “Nothing was spent”."""
    asking = asked(source)
    ChargeStep.objects.create(charge=asking.charge, place=1, reached=Reached.DRAWN, reached_on=timezone.localdate())
    work_on(asking)
    english, german = reasons(source)
    assert english == "The worker stopped between drawing the noise and storing it. The charge is spent; the noise is lost."
    assert german.startswith("Der Rechenprozess brach ab,")


def test_a_frozen_budget_is_told_with_the_officer_s_words_alone(source: Source) -> None:
    asking = asked(source)
    services.freeze(source, reason="Eine Beschwerde.", actor=person(Role.IRB_OFFICER))
    work_on(asking)
    english, german = reasons(source)
    assert english == "An IRB officer froze this budget: Eine Beschwerde."
    assert german.endswith(": Eine Beschwerde.")
    assert "IRB officer" not in german


def test_data_that_are_gone_return_the_charge_in_words(source: Source) -> None:
    asking = asked(source)
    Snapshot.objects.filter(source=source).delete()
    work_on(asking)
    english, german = reasons(source)
    assert english.endswith("The charge was returned.")
    assert german.endswith("Die Buchung wurde erstattet.")


def test_work_that_was_given_up_is_told(source: Source) -> None:
    asking = asked(source)
    for _ in range(Asking.MOST_ATTEMPTS):
        claimed(asking)
        fall_silent(asking)
        tasks.sweep()
    assert reasons(source)[1] == f"Aufgegeben, nachdem {Asking.MOST_ATTEMPTS} Rechenprozesse verstummt waren."


def test_a_charge_of_the_lost_days_is_told_to_each_reader_in_their_language(source: Source) -> None:
    """The page of whoever came first after the restore kept it, in the language of that reader."""
    with lost_with_the_back_up():
        asked_and_answered(source, rho=0.001)
    with translation.override("de"):
        remembered.charge_again(source)
    english, german = reasons(source)
    assert "asked this as no. 1 after the back-up was made" in english
    assert "asked this" not in german
    owner = logged_in(source.study.owner)
    page = owner.get(reverse("analysis:analytics_ledger", args=[source.study.slug]), headers={"Accept-Language": "de"})
    assert german in " ".join(page_of(page).xpath("//main")[0].text_content().split())


def test_every_reason_is_found_again_and_all_else_stays_as_it_is() -> None:
    with translation.override("de"):
        for kept in ALL:
            values = {"reason": "Why", "number": "1", "person": "somebody", "attempts": "5"}
            assert reason_in_words(kept % values) not in (kept % values, kept)
        assert reason_in_words("ZeroDivisionError at means.py:3") == "ZeroDivisionError at means.py:3"
