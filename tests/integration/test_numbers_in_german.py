"""Inputs of staff show a number as the sentences beside them do, and take a comma and a point in both languages."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from accounts.models import Role, User
from analysis.models import DataSet
from analysis.records.services import schema_of
from analysis.releases.record_choices import USUAL, Choices, RecordChoices
from analysis.sources.selectors import table_of
from surveys.models import PrivacyLimit
from surveys.privacy.services import set_limit
from tests.data_sets import TYPED_TABLE, quiz_file
from tests.factories import draft_study, logged_in, page_of, person
from tests.integration.test_data_sets import bring
from tests.integration.test_staff_language import german, numbers
from tests.releases import closed_study

pytestmark = pytest.mark.django_db
READERS: dict[str, Callable[[User], Client]] = {"en": logged_in, "de": german}
in_both = pytest.mark.parametrize("language", READERS)


def plan_of(reader: Client, **typed: str) -> dict[str, str]:
    """The numbers of the plan, and its sentences about mistakes."""
    page = page_of(reader.get(reverse("analysis:plan"), typed))
    inputs = {one.get("name"): one.get("value") for one in page.xpath("//form//input[@type='text']")}
    errors = {one.get("id"): one.text for one in page.xpath("//p[@class='error-message']") if one.text}
    return inputs | errors


def test_a_plan_begins_with_the_numbers_of_the_language() -> None:
    owner = person(Role.INVESTIGATOR)
    assert plan_of(logged_in(owner))["cap"] == "1.39"
    assert plan_of(german(owner))["cap"] == "1,39"
    study = draft_study(owner=owner)
    address = reverse("analysis:study_plan", args=[study.slug])
    assert "1,39" in numbers(german(owner).get(address))


@in_both
@pytest.mark.parametrize("typed", ["2,5", "2.5"])
def test_a_plan_takes_a_comma_and_a_point_and_keeps_what_was_typed(language: str, typed: str) -> None:
    plan = plan_of(READERS[language](person(Role.INVESTIGATOR)), cap=typed)
    assert (plan["cap"], "cap-error" in plan) == (typed, False)


def test_a_mistake_in_a_plan_is_told_in_numbers_of_the_language() -> None:
    said = plan_of(german(person(Role.INVESTIGATOR)), prevalence="99.5", effect="1,25")["effect-error"]
    assert "99,5" in said
    assert "100,75" in said
    assert "0,5 Punkt" in said


@in_both
@pytest.mark.parametrize("typed", ["2,5", "2.5", " 2,50 "])
def test_the_limit_of_privacy_loss_takes_a_comma_and_a_point(language: str, typed: str) -> None:
    """A browser whose own language is another than the page's let nobody type the comma of the page."""
    officer = person(Role.IRB_OFFICER)
    address = reverse("surveys:privacy_limit")
    assert READERS[language](officer).post(address, {"epsilon": typed}).status_code == 302
    assert PrivacyLimit.objects.latest("pk").epsilon == 2.5
    assert numbers(READERS[language](officer).get(address)) == {"2,5" if language == "de" else "2.5"}


def test_the_shown_limit_can_be_sent_as_it_is() -> None:
    officer = person(Role.IRB_OFFICER)
    set_limit(0.000_25, actor=officer)
    set_limit(5.55, actor=officer)
    reader, address = german(officer), reverse("surveys:privacy_limit")
    [shown] = numbers(reader.get(address))
    assert reader.post(address, {"epsilon": shown}).status_code == 302
    assert PrivacyLimit.objects.latest("pk").epsilon == 5.55


@pytest.mark.parametrize(
    ("declared", "bounds"),
    [
        ("0,5, 4,5", (0.5, 4.5)),
        ("0.5, 4.5", (0.5, 4.5)),
        ("0,5 – 4,5", (0.5, 4.5)),
        ("0,5–4,5", (0.5, 4.5)),
        ("0,5; 4,5", (0.5, 4.5)),
        ("0,4", (0, 4)),
        ("0 , 4", (0, 4)),
        ("0.5,4.5", (0.5, 4.5)),
        ("0,5,4,5", None),
        ("0,5", (0, 5)),
        ("4,5 –", None),
        ("", None),
    ],
)
def test_the_bounds_of_a_column_are_read_with_commas_and_points(declared: str, bounds: tuple[float, float] | None) -> None:
    owner = person(Role.INVESTIGATOR)
    file = re.sub(r",\d\n", ",1\n", quiz_file())
    answer = bring(german(owner), {**TYPED_TABLE, "declared-5": declared}, file)
    if bounds is None:
        assert (answer.status_code, DataSet.objects.exists()) == (422, False)
    else:
        assert answer.status_code == 302, answer.content.decode()
        table = table_of(DataSet.objects.get().source, 1)
        assert table is not None
        grade = table.schema.column("background.grade")
        assert (grade.minimum, grade.maximum) == bounds


def test_the_share_of_records_that_are_left_out_is_read_as_it_is_shown() -> None:
    with override("de"):
        choices = RecordChoices.empty(schema_of(closed_study(people=200)), last=Choices(**{**USUAL, "suppress": 0.125}))
        assert choices.values["suppress"] == "12,5"
        assert choices.chosen is not None
        assert choices.chosen["suppress"] == 0.125
