"""A decision is about what was read: a form that stood open while something else took its place decides nothing."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis.data_sets import services as data_sets
from analysis.data_sets.retention import usual_day
from analysis.ledger.services import freeze, unfreeze
from analysis.models import DataSet, DataSetStatus, Release
from analysis.sources.selectors import schema_of_records
from surveys.errors import TransitionError
from surveys.models import StudyStatus
from surveys.questions.plans import PrivacyBudget
from surveys.review import services as reviews
from surveys.review.selectors import threads_of
from surveys.studies import services as studies
from tests.api_requests import get, post, problem
from tests.data_sets import BUDGET, data_set
from tests.factories import logged_in, page_of, person, study_in
from tests.ledgers import budget_of, open_source
from tests.record_sets import FILES, courses_file, page, record_set, requested, step, words
from tests.releases import closed_study, requested_release

pytestmark = pytest.mark.django_db
AGAIN = "Look at it again."


def form(reader: Client, address: str, value: str) -> dict[str, str]:
    """The hidden fields of the form that this button sends."""
    (found,) = page_of(reader.get(address)).xpath(f"//form[.//button[@value='{value}']]")
    hidden = {field.get("name"): field.get("value") for field in found.xpath(".//input[@type='hidden']")}
    return {**hidden, found.xpath(f".//button[@value='{value}']/@name")[0]: value}


def state(made: DataSet) -> str:
    return DataSet.objects.get(pk=made.pk).status


def test_nobody_sends_back_a_budget_that_they_have_not_read() -> None:
    made, reader, other = data_set(), logged_in(person(Role.IRB_OFFICER)), person(Role.IRB_OFFICER)
    here, steps = reverse("analysis:data_set", args=[made.slug]), f"data-sets/{made.slug}/actions/send-back/"
    data_sets.submit(made, budget=BUDGET, delete_on=usual_day(), actor=made.owner)
    stale = {**form(reader, here, "send-back"), "reason": "Too much."}
    data_sets.send_back(made, reason="Too much.", actor=other)
    data_sets.submit(made, budget=PrivacyBudget(epsilon=0.25, delta=1e-6), delete_on=usual_day(), actor=made.owner)
    refused = reader.post(here, stale)
    assert (refused.status_code, AGAIN in words(refused), state(made)) == (422, True, DataSetStatus.WAITING)
    assert page_of(refused).xpath("//input[@name='reason']/@value") == ["Too much."], "nobody writes a reason twice"
    read = {"epsilon": 0.25, "delta": 1e-6, "delete_on": f"{usual_day()}", "about": made.about}
    problem(post(reader, steps, {"reason": "No.", **read, "epsilon": 1.0}), 409)
    problem(post(reader, steps, {"reason": "No.", "epsilon": 0.25}), 400)
    assert state(made) == DataSetStatus.WAITING
    assert reader.post(here, {**form(reader, here, "send-back"), "reason": "No."}).status_code == 302
    data_sets.submit(made, budget=PrivacyBudget(epsilon=0.25, delta=1e-6), delete_on=usual_day(), actor=made.owner)
    assert post(reader, steps, {"reason": "No.", **read}).status_code == 200


def test_nobody_decides_about_a_package_that_they_have_not_read() -> None:
    made = record_set(files={**FILES, "maths.csv": courses_file()})
    owner, reader = logged_in(made.owner), logged_in(person(Role.IRB_OFFICER))
    roles: dict[str, Any] = {"attribute": list(schema_of_records(made).roles)}
    step(owner, made, "roles", **roles, role=["quasi_identifier", "auxiliary", "auxiliary", "sensitive"])
    first = requested(made, asked=["sex"])
    stale = [
        {**form(reader, page(made), "send-back"), "reason": "Ask the students."},
        {**form(reader, page(made), "confirm"), "attributes": ["sex"]},
    ]
    step(owner, made, "take-back")
    second = requested(made, asked=["sex"], suppress="0")
    for one in stale:
        refused = reader.post(page(made), one)
        assert (refused.status_code, AGAIN in words(refused), state(made)) == (422, True, DataSetStatus.WAITING)
    programs = f"data-sets/{made.slug}/records/"
    problem(post(reader, f"{programs}actions/send-back/", {"reason": "No.", "sha256": first.package_sha256}), 409)
    problem(post(reader, f"{programs}confirm/", {"attributes": ["sex"], "sha256": first.package_sha256}), 409)
    assert state(made) == DataSetStatus.WAITING
    confirmed = {"attributes": ["sex"], "sha256": second.package_sha256}
    assert post(reader, f"{programs}confirm/", confirmed).status_code == 202


def test_nobody_refuses_or_confirms_a_release_that_was_built_again() -> None:
    study, reader = closed_study(), logged_in(person(Role.IRB_OFFICER))
    chosen = {"k": 4, "class_size": 6, "l": {}, "suppress": 0.02, "asked": ["devices"]}
    release = requested_release(study, background="records", protection=chosen)
    here = reverse("analysis:releases_one", args=[study.slug, release.pk])
    stale = [{**form(reader, here, "refuse"), "reason": "The title."}, {**form(reader, here, "confirm"), "attributes": ["devices"]}]
    Release.objects.filter(pk=release.pk).update(package_sha256="0" * 64)  # as if it had been built and asked for again
    for one in stale:
        assert AGAIN in words(reader.post(here, one, follow=True))
    programs = f"studies/{study.slug}/records/confirm/"
    problem(post(reader, programs, {"attributes": ["devices"], "sha256": release.package_sha256}), 409)
    release.refresh_from_db()
    assert (release.status, release.reason) == ("requested", "")
    reader.post(here, {**form(reader, here, "refuse"), "reason": "The title."})
    release.refresh_from_db()
    assert (release.status, release.reason) == ("refused", "The title.")


def test_a_budget_that_was_frozen_anew_stays_frozen() -> None:
    source, reader, other = open_source(), logged_in(person(Role.IRB_OFFICER)), person(Role.IRB_OFFICER)
    assert source.study is not None
    here = reverse("analysis:analytics_ledger", args=[source.study.slug])
    ledger, programs = f"studies/{source.study.slug}/analytics/ledger/", f"studies/{source.study.slug}/analytics/ledger/frozen/"
    freeze(source, reason="A complaint.", actor=other)
    stale, read = form(reader, here, "unfreeze"), get(other, ledger)["budget"]["changes"]
    unfreeze(source, actor=other)
    freeze(source, reason="The noise is wrong.", actor=other)
    assert AGAIN in words(reader.post(here, stale))
    problem(post(reader, programs, {"frozen": False, "changes": read}), 409)
    assert budget_of(source).frozen_because == "The noise is wrong."
    assert reader.post(here, form(reader, here, "unfreeze")).status_code == 302
    assert budget_of(source).frozen_on is None


def test_a_thread_is_not_resolved_over_a_comment_that_nobody_has_read() -> None:
    study, officer = study_in(StudyStatus.IN_REVIEW), person(Role.IRB_OFFICER)
    reader, here = logged_in(officer), reverse("surveys:comment", args=[study.slug])
    reviews.comment(study, actor=officer, section="consent", text="Who is the contact?")
    stale = {"section": "consent", "resolves": "1", "read": "1"}
    assert 'name="read" value="1"' in reader.get(reverse("surveys:protocol", args=[study.slug])).content.decode()
    reviews.comment(study, actor=study.owner, section="consent", text="Nobody: I will not say.")
    reader.post(here, stale)
    problem(post(reader, f"studies/{study.slug}/review/comments/", {"section": "consent", "resolves": True, "read": 1}), 409)
    assert threads_of(study)["consent"].is_open
    reader.post(here, {**stale, "read": "2"})
    assert not threads_of(study)["consent"].is_open


def test_an_officer_who_is_about_to_approve_is_told_of_open_comments() -> None:
    study, officer = study_in(StudyStatus.IN_REVIEW), person(Role.IRB_OFFICER)
    reader = logged_in(officer)

    def is_told(action: str) -> bool:
        return "1 section with open comments" in words(reader.get(reverse("surveys:action", args=[study.slug, action])))

    assert not is_told("approve")
    reviews.comment(study, actor=officer, section="consent", text="Who is the contact?")
    assert (is_told("approve"), is_told("return")) == (True, False)
    reviews.comment(study, actor=officer, section="consent", text="", resolves=True)
    assert not is_told("approve")


def test_a_comment_is_on_the_version_that_was_read() -> None:
    """The attack: an officer's objection to version 1 seems to be one to version 2, which came in while the page stood open."""
    study, officer = study_in(StudyStatus.IN_REVIEW), person(Role.IRB_OFFICER)
    reader, programs = logged_in(officer), f"studies/{study.slug}/review/comments/"
    page_of_one = page_of(reader.get(reverse("surveys:protocol", args=[study.slug])))
    (version,) = set(page_of_one.xpath("//form[.//textarea]/input[@name='version']/@value"))
    studies.take_back(study, actor=study.owner)
    studies.submit_for_review(study, actor=study.owner)
    reader.post(reverse("surveys:comment", args=[study.slug]), {"section": "consent", "text": "Too long.", "version": version})
    assert post(reader, programs, {"section": "consent", "text": "Still."}).status_code == 201
    assert [(one.text, one.protocol.version) for one in threads_of(study)["consent"].comments] == [("Too long.", 1), ("Still.", 2)]
    for unknown in (0, 3, 2**63 - 1):
        refused = problem(post(reader, programs, {"section": "consent", "text": "On none.", "version": unknown}), 409)
        assert refused["detail"] == f"Expected a version from 1 to 2, found {unknown}."


def test_a_suspension_that_came_first_is_neither_repeated_nor_lifted_twice() -> None:
    """Pages offer no such step: the study has changed since. One that is over would seem suspended, and its log would tell of it."""
    study, officer = study_in(StudyStatus.RECRUITING), person(Role.IRB_OFFICER)
    with pytest.raises(TransitionError, match="not suspended"):
        reviews.lift_suspension(study, actor=officer, reason="Late.")
    reviews.suspend(study, actor=officer, reason="A complaint.")
    with pytest.raises(TransitionError, match="not suspended yet"):
        reviews.suspend(study, actor=officer, reason="A complaint.")
    reviews.lift_suspension(study, actor=officer, reason="Seen.")
    studies.close(study, actor=study.owner)
    with pytest.raises(TransitionError, match="Only a running study"):
        reviews.suspend(study, actor=officer, reason="Late.")
    assert list(study.decisions.values_list("verdict", flat=True)) == ["approved", "suspended", "lifted"]


def test_a_draft_that_nobody_was_shown_has_neither_comments_nor_conditions() -> None:
    draft = study_in(StudyStatus.DRAFT)
    with pytest.raises(TransitionError, match="once the study has been submitted"):
        reviews.comment(draft, actor=draft.owner, section="consent", text="On none.")
    with pytest.raises(TransitionError, match="no conditions"):
        reviews.acknowledge_conditions(draft, actor=draft.owner)


def test_the_words_of_a_decision_that_comes_too_late_are_shown_again() -> None:
    study = reviews.ask_for_changes(study_in(StudyStatus.IN_REVIEW), actor=person(Role.IRB_OFFICER), reason="Say who hears complaints.")
    late, action = logged_in(person(Role.IRB_OFFICER)), reverse("surveys:action", args=[study.slug, "reject"])
    told = late.post(action, {"version": "1", "reason": "A long <reason>."}, follow=True).content.decode()
    assert "This cannot be done now." in told
    assert "You had written: A long &lt;reason&gt;." in told
    assert study.decisions.count() == 1
