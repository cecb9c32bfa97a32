"""The plan of publication that people were told holds for them, whatever an amendment says."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis.packages.errors import ReleaseError
from surveys.models import Study
from surveys.retention.release_plans import release_plans
from surveys.review import services as reviews
from surveys.studies import services as studies
from tests.factories import definition, logged_in, person, recruiting_study
from tests.finished_people import add_finished_people
from tests.releases import PEOPLE, closed_study, started_release

pytestmark = pytest.mark.django_db
FIRST, FEW, MORE = "A plan to which nobody came.", "Only counts of the first question.", "Everything, with all background answers."


def recruiting(**changes: object) -> Study:
    return recruiting_study(allocation={"planned_participants": 2 * PEOPLE}, **changes)


def amended(study: Study, plan: str | dict[str, str]) -> Study:
    """An amendment of the plan alone, which waits for the officers."""
    changed = definition(allocation={"planned_participants": 2 * PEOPLE}, release_plan=plan)
    return studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)


def page(client: Client, name: str, *args: object, language: str = "en") -> str:
    return client.get(reverse(name, args=args), HTTP_ACCEPT_LANGUAGE=language).content.decode()


def test_a_plan_of_publication_holds_beside_a_later_one_for_everybody_who_decides() -> None:
    officer, study = person(Role.IRB_OFFICER), recruiting(release_plan=FIRST)
    study = studies.resume(reviews.approve(amended(study, FEW), actor=officer), actor=study.owner)
    add_finished_people(study, PEOPLE)
    waits = amended(study, MORE)
    assert FEW in page(logged_in(officer), "surveys:protocol_version", study.slug, 3).partition('id="release"')[2]
    study = studies.resume(reviews.approve(waits, actor=officer), actor=study.owner)
    about = page(Client(), "surveys:transparency", study.slug)
    assert about.index(MORE) < about.index(f'Version 2 of the plan said, and this still holds: <span lang="en">{FEW}')
    assert f'Version 1 of the plan said, and this still holds: <span lang="en">{FIRST}' in about, "whether anybody agreed is private"
    study = studies.close(study, actor=study.owner)
    assert FEW in page(logged_in(study.owner), "analysis:releases", study.slug)
    release = started_release(study)
    shown = page(logged_in(officer), "analysis:releases_one", study.slug, release.pk)
    assert MORE in shown
    assert FEW in shown
    told = logged_in(officer).get(reverse("analysis:api_study_release", args=[study.slug, release.pk])).json()["release_plans"]
    assert [(plan["version"], plan["language"], plan["text"]) for plan in told] == [(3, "en", MORE), (2, "en", FEW), (1, "en", FIRST)]


def test_a_plan_that_never_opened_binds_nobody_once_the_study_is_closed() -> None:
    """Officers who decide about a release read only what people could agree to."""
    study = recruiting(release_plan=FEW)
    study = reviews.approve(amended(study, MORE), actor=person(Role.IRB_OFFICER))
    assert [plan.text for plan in release_plans(study)] == [MORE, FEW], "newcomers would read it from the next moment on"
    study = studies.close(study, actor=study.owner)
    assert [plan.text for plan in release_plans(study)] == [FEW]
    assert MORE not in page(Client(), "surveys:transparency", study.slug)


def test_a_plan_holds_in_the_language_in_which_people_read_it() -> None:
    """An officer who reads English is shown the German words that an amendment changed."""
    officer, german = person(Role.IRB_OFFICER), ("Nur Zahlen, keine Zeilen.", "Zeilen und alle Angaben.")
    study = recruiting(release_plan={"en": FEW, "de": german[0]})
    waits = amended(study, {"en": FEW, "de": german[1]})
    assert f'<div class="prose" lang="de"><p>{german[0]}' in page(logged_in(officer), "surveys:protocol_version", study.slug, 2)
    study = studies.resume(reviews.approve(waits, actor=officer), actor=study.owner)
    in_german = page(Client(), "surveys:transparency", study.slug, language="de")
    assert all(text in in_german for text in german)
    assert FEW not in in_german
    in_english = page(Client(), "surveys:transparency", study.slug)
    assert in_english.count(FEW) == 1
    assert f'<span lang="de">{german[0]}</span>' in in_english
    assert german[1] not in in_english


def test_a_plan_that_every_version_says_alike_is_shown_once() -> None:
    study = recruiting(release_plan=FEW)
    waits = amended(study, {"en": FEW, "de": FEW})
    assert FEW not in page(logged_in(person(Role.IRB_OFFICER)), "surveys:protocol_version", study.slug, 2).partition("still holds")[2]
    study = studies.resume(reviews.approve(waits, actor=person(Role.IRB_OFFICER)), actor=study.owner)
    assert page(Client(), "surveys:transparency", study.slug).count(FEW) == 1


def test_the_lines_of_a_plan_stay_lines_where_everybody_reads_them() -> None:
    about = page(Client(), "surveys:transparency", recruiting(release_plan=f"{FIRST}\n{FEW}").slug)
    assert f"{FIRST}<br>{FEW}" in about


def test_everybody_is_told_of_all_forms_in_which_background_answers_can_be_published() -> None:
    """Records came after the sentence that promised counts at most."""
    study = recruiting()
    about = page(Client(), "surveys:transparency", study.slug)
    packet = page(logged_in(person(Role.IRB_OFFICER)), "surveys:protocol_version", study.slug, 1)
    assert "at most counts, or records in which several people look alike" in about
    assert "as protected records, in which several people look alike" in packet
    assert "never published as they were given" not in packet


def test_no_records_are_released_of_people_who_were_promised_counts_at_most() -> None:
    """Studies that were launched before the public page told of records; bots were promised nothing."""
    told, before, of_bots = (closed_study(slug=slug, bots=slug == "bots") for slug in ("told", "before", "bots"))
    Study.objects.filter(slug__in=("before", "bots")).update(told_of_records=False)
    before.refresh_from_db()
    of_bots.refresh_from_db()
    with pytest.raises(ReleaseError, match="promised that background answers are published as counts at most"):
        started_release(before, background="records")
    about = page(Client(), "surveys:transparency", "before")
    assert "what people told about themselves at most counts." in about
    assert "look alike" not in about
    packet = page(logged_in(person(Role.IRB_OFFICER)), "surveys:protocol_version", "before", 1)
    assert "promised that background answers are published as counts at most" in packet
    for free in (told, of_bots):
        started_release(free, background="records")
    assert "look alike" in page(Client(), "surveys:transparency", "told")
