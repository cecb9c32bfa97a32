"""The builder's page about authors and funding: rows that are added, changed and removed, and mistakes that are named where they are."""

import pytest
from django.urls import reverse

from accounts.models import User
from surveys.models import Study, StudyStatus
from surveys.questions.publication import Publication
from surveys.study_file import define
from tests.factories import draft_study, logged_in, page_of, study_in
from tests.integration.test_builder import address
from tests.publications import FULL, PUBLICATION

pytestmark = pytest.mark.django_db


def inputs(study: Study) -> dict[str, object]:
    """The values that the page's form sends if nobody changes anything."""
    page = page_of(logged_in(study.owner).get(address("build_publication", study)))
    (form,) = page.xpath('//form[@id="builder-form"]')
    found: dict[str, list[str]] = {}
    for name, value in form.form_values():
        found.setdefault(name, []).append(value)
    return dict(found)


def stored(study: Study) -> Publication:
    study.refresh_from_db()
    return define(study.definition).publication


def save(study: Study, **typed: object) -> object:
    return logged_in(study.owner).post(address("build_publication", study), {**inputs(study), **typed})


def test_what_is_typed_is_what_the_study_file_says() -> None:
    study = draft_study()
    typed = {
        "creators.0.name": "Lovelace, Ada",
        "creators.0.orcid": "https://orcid.org/0000-0002-1825-0097",
        "creators.0.institution": "University of London",
        "creators.0.ror": "ror.org/04cw6st05",
        "creators.0.roles": ["conceptualization", "data-curation"],
        "funding.0.funder": "Deutsche Forschungsgemeinschaft",
        "funding.0.ror": "018mejw64",
        "funding.0.award": "LO 1842/1",
        "keywords": "attention\n\n lectures ",
        "contact_name": "Data office",
        "contact_email": "data@uni.example",
        "first": "2026-10",
        "last": "2026-12",
    }
    assert save(study, **typed).status_code == 302
    assert save(study, **{"creators.1.name": "Hopper, Grace"}).status_code == 302
    assert stored(study) == PUBLICATION


def test_a_row_goes_when_its_box_is_ticked_or_it_is_emptied_and_all_may_go() -> None:
    study = draft_study(publication=FULL)
    save(study, **{"creators.0.remove": "on"})
    assert stored(study).authors == ["Hopper, Grace"]
    empty = dict.fromkeys(("creators.0.name", "funding.0.funder", "funding.0.ror", "funding.0.award", "keywords"), "")
    save(study, **empty, contact_name="", contact_email="", first="", last="")
    assert stored(study) == Publication()
    assert "publication" not in study.definition


@pytest.mark.parametrize(
    ("typed", "field", "complaint"),
    [
        ({"creators.0.orcid": "0000-0002-1825-0098"}, "creators.0.orcid", "is a digit mistyped?"),
        ({"creators.0.ror": "04cw6st06"}, "creators.0.ror", "last two digits fit"),
        ({"creators.0.institution": ""}, "creators.0.institution", "beside its ROR"),
        ({"creators.2.orcid": "0000-0001-5109-3700"}, "creators.2.name", "Write the name."),
        ({"funding.0.funder": ""}, "funding.0.funder", "Write the name of the funder."),
        ({"last": ""}, "last", "Write both"),
        ({"contact_name": ""}, "contact_name", "name of the contact"),
    ],
)
def test_a_mistake_is_named_at_its_field_and_nothing_is_lost(typed: dict[str, str], field: str, complaint: str) -> None:
    study = draft_study(publication=FULL)
    answer = save(study, **typed)
    assert answer.status_code == 422
    page = page_of(answer)
    assert complaint in page.xpath(f'string(//*[@id="{field}-error"])')
    assert page.xpath('string(//input[@name="contact_email"]/@value)') == "data@uni.example"
    assert stored(study) == PUBLICATION


@pytest.mark.parametrize(
    ("field", "said"), [("creators.0.orcid", "Erwartet wird eine ORCID"), ("creators.0.ror", "Erwartet wird eine ROR")]
)
def test_a_mistyped_identifier_is_named_in_the_language_of_the_page(field: str, said: str) -> None:
    study = draft_study(publication=FULL)
    User.objects.filter(pk=study.owner_id).update(language="de")
    told = page_of(save(study, **{field: "04cw6st0x"})).xpath(f'string(//*[@id="{field}-error"])')
    assert said in told
    assert "gefunden wurde „04cw6st0x“" in told


@pytest.mark.parametrize("typed", [{"first": "2026-10-05"}, {"contact_email": "office"}, {"last": "2025"}, {"keywords": "Die\ndie"}])
def test_what_the_study_refuses_is_said_on_the_page(typed: dict[str, str]) -> None:
    study = draft_study(publication=FULL)
    answer = save(study, **typed)
    assert answer.status_code == 422
    assert "publication" in page_of(answer).text_content()
    assert stored(study) == PUBLICATION


def test_officers_read_it_in_the_packet_and_people_who_take_part_see_none_of_it() -> None:
    study = study_in(StudyStatus.RECRUITING, publication=FULL)
    packet = page_of(logged_in(study.owner).get(reverse("surveys:protocol", args=[study.slug]))).text_content()
    for said in ("0000-0002-1825-0097", "University of London", "LO 1842/1", "data@uni.example"):
        assert said in packet
    journey = logged_in(study.owner).get(reverse("surveys:journey", args=[study.slug]), follow=True).content.decode()
    assert "0000-0002-1825-0097" not in journey
