"""The life cycle of a release: who may do what when, what is in it, and what is never in it."""

import csv
import io
import json
from collections import Counter
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis.models import Release
from analysis.packages.errors import ReleaseError
from analysis.releases import building, selectors, services
from analysis.releases.people import people_sha256
from audit.models import Entry
from candor.packages.archive import files_in
from surveys.batches.rules import LEAST
from surveys.definition import DIRECT
from surveys.journey import services as participation
from surveys.journey.services import JourneyError
from surveys.models import DirectAnswer, Participant, Preregistration, Response, Step, Study
from surveys.retention.services import forget_operational_data
from surveys.tokens import hash_of_withdrawal_code
from tests.factories import logged_in, page_of, person, recruiting_study, walk
from tests.finished_people import add_finished_people
from tests.jobs import work_on
from tests.releases import (
    CHOICES,
    CODE,
    PEOPLE,
    SITE,
    built_release,
    closed_study,
    package_of,
    published_release,
    requested_release,
    rows_in,
    started_release,
    withdraw_one,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return closed_study()


def actions_about(study: Study) -> list[str]:
    entries = Entry.objects.filter(action__startswith="release.", subject_id=str(study.pk)).order_by("sequence")
    return list(entries.values_list("action", flat=True))


def test_it_holds_the_reported_answers_with_arm_and_subsample_and_nothing_else(study: Study) -> None:
    release = built_release(study)
    rows = rows_in(release)
    assert list(rows[0]) == ["arm", "subsample", "answer_attention", "answer_comprehension"]
    expected: Counter[tuple[str, ...]] = Counter()
    for one in Participant.objects.filter(study=study):
        told = dict(one.responses.values_list("question", "reported_yes"))
        expected[one.arm, one.subsample, str(int(told["attention"])), str(int(told["comprehension"]))] += 1
    assert Counter(tuple(row.values()) for row in rows) == expected


def test_no_file_holds_a_key_a_code_a_token_a_day_or_the_answers_to_a_question_that_was_not_chosen(study: Study) -> None:
    release = built_release(study)
    registered = Preregistration.objects.get(protocol__study=study).registered_on  # the day of the approval, which is nobody's
    everything = b"\n".join(files_in(package_of(release)).values()).decode()
    for written in (
        f'"registered_on": "{registered}"',
        f'\\"registered_on\\": \\"{registered}\\"',
    ):  # the page copies protocol.json as text
        assert written in everything
        everything = everything.replace(written, "")
    for one in Participant.objects.filter(study=study):
        for secret in (str(one.pk), one.pk.hex, one.token_hash, one.withdrawal_hash, str(one.consented_on)):
            assert secret not in everything
    for response in Response.objects.filter(participant__study=study):
        assert str(response.pk) not in everything
    assert "answer_judgement" not in everything
    assert study.owner.get_username() not in everything


def test_background_answers_are_counts_over_everybody_or_not_there(study: Study) -> None:
    files = files_in(package_of(built_release(study)))
    counts = list(csv.DictReader(io.StringIO(files["background-counts.csv"].decode())))
    women = Participant.objects.filter(study=study, background__gender="woman").count()
    assert next(row["count"] for row in counts if (row["question"], row["answer"]) == ("gender", "woman")) == str(women)
    assert all(int(row["count"]) >= CHOICES.smallest_count for row in counts if row["count"])
    assert not [name for name in ("gender", "year", "devices", "courses") if name in files["data.csv"].decode()]
    Release.objects.all().delete()
    left_out = files_in(package_of(built_release(study, background="left_out")))
    assert "background-counts.csv" not in left_out
    assert b"not in this release" in left_out["README.md"]


def test_the_counts_to_come_are_seen_before_anybody_approves_them(study: Study) -> None:
    release = requested_release(study, smallest_count=20)
    page = page_of(logged_in(person(Role.IRB_OFFICER)).get(reverse("analysis:releases_one", args=[study.slug, release.pk])))
    (table,) = page.xpath('//table[contains(caption, "background-counts.csv")]')
    shown = [tuple(cell.text_content() for cell in row) for row in table.xpath("tbody/tr")]
    counts = csv.DictReader(io.StringIO(files_in(package_of(release))["background-counts.csv"].decode()))
    assert shown == [(row["question"], row["answer"], row["count"] or "hidden") for row in counts]
    assert {"hidden"} < {count for _question, _answer, count in shown}


def test_a_later_version_hides_the_same_counts(study: Study) -> None:
    """A value hidden in one version could be derived by a sum from the values shown in another."""
    first = files_in(package_of(published_release(study)))["background-counts.csv"]
    with pytest.raises(ReleaseError, match="Expected counts below 5 to be hidden, as in the version before, found 20"):
        started_release(study, smallest_count=20)
    page = page_of(logged_in(study.owner).get(reverse("analysis:releases", args=[study.slug])))
    assert page.xpath('//input[@name="smallest_count"]/@value') == ["5"]
    assert files_in(package_of(published_release(study)))["background-counts.csv"] == first
    retracted = Release.objects.get(version=2)
    services.retract(retracted, reason="A wrong title.", actor=study.owner)
    assert built_release(study, background="left_out", smallest_count=20).version == 3


def test_people_who_did_not_finish_are_not_in_it() -> None:
    study = recruiting_study(allocation={"planned_participants": PEOPLE, "block_multiples": [1]})
    add_finished_people(study, PEOPLE, unfinished=0.2)
    services_study = Study.objects.get(pk=study.pk)
    Study.objects.filter(pk=study.pk).update(status="closed")
    finished = Participant.objects.filter(study=study, step=Step.FINISHED).count()
    assert finished < PEOPLE
    assert len(rows_in(built_release(services_study))) == finished


def test_people_who_were_asked_without_a_die_are_not_in_it() -> None:
    study = closed_study(people=200, direct_group={"share": 0.2, "consent": "May we ask you without a die?"})
    with_die = Participant.objects.filter(study=study).exclude(subsample=DIRECT)
    asked = Participant.objects.filter(study=study, subsample=DIRECT)
    assert asked.exists()
    DirectAnswer.objects.bulk_create(DirectAnswer(participant=one, question="attention", yes=True) for one in asked)
    release = built_release(study)
    rows = rows_in(release)
    assert len(rows) == with_die.count()
    assert {row["subsample"] for row in rows} == {"1", "2"}
    files = files_in(package_of(release))
    assert "Neither they nor what they said are in this release." in files["README.md"].decode()
    women = with_die.filter(background__gender="woman").count()
    assert f"gender,woman,{women}\n" in files["background-counts.csv"].decode()


def test_bots_are_left_out_where_there_are_people_and_it_says_so(study: Study) -> None:
    bots = Participant.objects.filter(pk__in=list(Participant.objects.values_list("pk", flat=True)[:10]))
    bots.update(is_bot=True)
    release = built_release(study)
    assert len(rows_in(release)) == PEOPLE - 10
    assert "10 simulated participants (bots) had walked through the study too" in files_in(package_of(release))["README.md"].decode()
    page = logged_in(study.owner).get(reverse("analysis:releases_one", args=[study.slug, release.pk])).content.decode()
    assert "10 bots walked through this study too. They are left out." in page


def test_a_study_that_runs_or_is_too_small_has_no_release_and_is_told_why() -> None:
    running = recruiting_study(slug="still-running", allocation={"planned_participants": PEOPLE})
    add_finished_people(running, PEOPLE, seed=7)
    with pytest.raises(ReleaseError, match="once the study is closed"):
        started_release(running)
    small = closed_study(people=16, slug="very-small")
    with pytest.raises(ReleaseError, match=r"smallest group .* has 4 finished people; rows are published from 5"):
        started_release(small)
    page = logged_in(small.owner).get(reverse("analysis:releases", args=[small.slug])).content.decode()
    assert "Publish the estimates in a paper instead" in page
    assert "Bots do not count" not in page
    assert "Build the package" not in page


def test_groups_that_shrink_before_the_build_stop_it(study: Study) -> None:
    release = started_release(study)
    group = {"study": study, "arm": "slides", "subsample": "1"}
    keep = list(Participant.objects.filter(**group).values_list("pk", flat=True)[:4])
    Participant.objects.filter(**group).exclude(pk__in=keep).delete()
    work_on(release)
    release.refresh_from_db()
    assert release.status == "failed"
    assert "found 4 in arm slides, subsample 1" in release.error
    assert release.data is None


def test_two_people_and_the_right_ones_are_needed(study: Study) -> None:
    release = requested_release(study)
    officer_who_owns = person(Role.IRB_OFFICER)
    for actor in (study.owner, person(Role.ADMINISTRATOR), person(Role.INVESTIGATOR), person(Role.ANALYST)):
        with pytest.raises(ReleaseError, match="Only an IRB officer who has no part"):
            services.approve(release, actor=actor)
    Study.objects.filter(pk=study.pk).update(owner=officer_who_owns)
    with pytest.raises(ReleaseError, match="Only an IRB officer who has no part"):
        services.approve(release, actor=officer_who_owns)
    with pytest.raises(ReleaseError, match="no part in the study can refuse"):
        services.refuse(release, reason="no", actor=officer_who_owns)
    assert not Study.objects.get(pk=study.pk).data_published
    assert services.approve(release, actor=person(Role.IRB_OFFICER))
    assert Study.objects.get(pk=study.pk).data_published


def test_an_officer_approves_only_what_was_asked_for(study: Study) -> None:
    release = built_release(study)
    with pytest.raises(ReleaseError, match="This release is ready to look at"):
        services.approve(release, actor=person(Role.IRB_OFFICER))
    services.request_approval(release, actor=study.owner)
    with pytest.raises(ReleaseError, match="This release is waiting for the IRB officer"):
        services.request_approval(release, actor=study.owner)


def test_after_publication_nobody_can_withdraw(study: Study) -> None:
    release = published_release(study)
    one = Participant.objects.filter(study=study).first()
    assert one is not None
    Participant.objects.filter(pk=one.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    with pytest.raises(JourneyError):
        participation.withdraw(study, code=CODE)
    assert people_sha256(study, simulated=False) == release.people_sha256


def test_a_withdrawal_before_approval_deletes_the_package(study: Study) -> None:
    release = requested_release(study)
    withdraw_one(study)
    with pytest.raises(ReleaseError, match="somebody withdrew"):
        services.approve(release, actor=person(Role.IRB_OFFICER))
    release.refresh_from_db()
    assert (release.status, release.package, release.data, release.summary) == ("outdated", None, None, {})
    assert not Study.objects.get(pk=study.pk).data_published
    address = reverse("analysis:releases_one", args=[study.slug, release.pk])
    assert "Build it again" in logged_in(study.owner).get(address).content.decode()
    assert "Build it again" not in logged_in(person(Role.IRB_OFFICER)).get(address).content.decode(), "they cannot"
    again = built_release(study)
    assert (again.version, len(rows_in(again))) == (1, PEOPLE - LEAST)


def test_a_withdrawal_deletes_the_package_at_once_and_the_sweep_what_was_missed(
    study: Study, committed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = built_release(study)
    with committed():
        withdraw_one(study)
    release.refresh_from_db()
    assert (release.status, release.package) == ("outdated", None)
    missed = built_release(study)
    with monkeypatch.context() as patch:
        patch.setattr(building, "outdate", lambda release: None)
        withdraw_one(study)
    this, now = Release.objects.filter(pk=missed.pk), building.compared_people(missed)[0]
    for people, as_of in (("of another build", now), (missed.people_sha256, "before somebody else withdrew")):
        with monkeypatch.context() as patch:
            patch.setattr(building, "compared_people", lambda _one, new=people, of=as_of: (this.update(people_sha256=new) and of, False))
            building.discard_all_outdated()
        assert this.update(people_sha256=missed.people_sha256) == this.filter(status="built").count() == 1, "the next minute looks again"
    building.discard_all_outdated()
    missed.refresh_from_db()
    assert (missed.status, missed.package) == ("outdated", None)
    assert actions_about(study) == ["release.started"] * 2, "an entry has a time, which would be that of the withdrawal"
    for _day in range(2):
        building.log_outdated()
        assert actions_about(study) == ["release.started"] * 2 + ["release.outdated"] * 2


def test_a_withdrawal_during_the_build_is_noticed_when_it_ends(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    release = started_release(study)
    content_of = building._content_of

    def withdrawn_meanwhile(release: Release) -> Any:
        monkeypatch.setattr(building, "_content_of", content_of)
        found = content_of(release)
        stored = Release.objects.filter(pk=release.pk).values_list("data", flat=True)
        assert stored.get() is not None
        withdraw_one(study)
        assert stored.get() is None, "the rows would stay if this worker were killed now, and no other one came"
        return found

    monkeypatch.setattr(building, "_content_of", withdrawn_meanwhile)
    work_on(release)
    release.refresh_from_db()
    assert (release.status, release.data, release.package) == ("queued", None, None)
    work_on(release)
    release.refresh_from_db()
    assert (release.status, len(rows_in(release))) == ("built", PEOPLE - LEAST), "others of the same group hide who left"


def test_a_refusal_says_why_and_leaves_no_files(study: Study) -> None:
    release = requested_release(study)
    officer = person(Role.IRB_OFFICER)
    with pytest.raises(ReleaseError, match="a reason in words"):
        services.refuse(release, reason=" ", actor=officer)
    services.refuse(release, reason="The consent text does not mention publication.", actor=officer)
    release.refresh_from_db()
    assert (release.status, release.package, release.decided_by) == ("refused", None, officer)
    page = logged_in(study.owner).get(reverse("analysis:releases_one", args=[study.slug, release.pk])).content.decode()
    assert "The consent text does not mention publication." in page
    assert actions_about(study) == ["release.started", "release.requested", "release.refused"]
    assert built_release(study).version == 1


def test_only_one_release_is_under_way_and_it_can_be_discarded(study: Study) -> None:
    release = started_release(study)
    with pytest.raises(ReleaseError, match="Another release of this study is under way"):
        started_release(study)
    services.discard(release, actor=study.owner)
    work_on(release)
    release.refresh_from_db()
    assert (release.status, release.package) == ("discarded", None)


def test_the_pages_lead_from_the_choices_to_the_public(study: Study) -> None:
    owner, officer = logged_in(study.owner), logged_in(person(Role.IRB_OFFICER))
    start = reverse("analysis:releases", args=[study.slug])
    fields = {
        "title": CHOICES.title,
        "authors": "Lovelace, Ada\r\nHopper, Grace\r\n",
        "licence": "CC0-1.0",
        "questions": ["comprehension", "attention"],
        "background": "left_out",
        "smallest_count": "10",
    }
    wrong = owner.post(start, {**fields, "title": "", "questions": ["no such"], "licence": "mine"})
    assert wrong.status_code == 422
    assert [link.get("href") for link in page_of(wrong).xpath('//*[@role="alert"]//a')] == ["#title", "#questions", "#licence"]
    address = owner.post(start, fields)["Location"]
    assert "A worker will begin in a moment." in owner.get(address).content.decode()
    release = Release.objects.get()
    assert release.questions == ["attention", "comprehension"]
    work_on(release)
    assert "Ask the IRB officer to approve" in owner.get(address).content.decode()
    assert "Approve and publish" not in officer.get(address).content.decode()
    looked_at = page_of(owner.get(address)).xpath("//input[@name='sha256']/@value")[0]
    owner.post(address, {"step": "request"})
    assert Release.objects.get().status == "built", "an old page, or none"
    owner.post(address, {"step": "request", "sha256": looked_at})
    assert CHOICES.title in officer.get(reverse("analysis:inbox")).content.decode()
    assert "Approve and publish" not in owner.get(address).content.decode()
    owner.post(address, {"step": "approve"})
    assert Release.objects.get().status == "requested"
    page = officer.get(address).content.decode()
    assert all(words in page for words in ("Approve and publish", "First 10 rows of data.csv", "ε of all answers", "Yes: all"))
    officer.post(address, {"step": "approve", "sha256": "0" * 64})
    assert Release.objects.get().status == "requested"
    officer.post(address, {"step": "approve", "sha256": looked_at})
    public = Client().get(reverse("analysis:public_release", args=[study.slug, 1])).content.decode()
    assert "Lovelace, Ada; Hopper, Grace" in public
    assert actions_about(study) == ["release.started", "release.rows_seen", "release.requested", "release.published"]


def test_choices_that_no_form_offers_are_refused(study: Study) -> None:
    for changes in ({"questions": ()}, {"questions": ("gender",)}, {"licence": "all rights reserved"}):
        with pytest.raises(ReleaseError, match="Expected"):
            started_release(study, **changes)
    without = closed_study(slug="no-background", background=None)
    with pytest.raises(ReleaseError, match="asked no background questions"):
        started_release(without)


def test_background_answers_that_were_deleted_cannot_be_counted(study: Study) -> None:
    release = started_release(study)
    forget_operational_data(study)
    work_on(release)
    release.refresh_from_db()
    assert (release.status, "Background answers are deleted" in release.error) == ("failed", True)
    with pytest.raises(ReleaseError, match="Background answers are deleted"):
        started_release(study)
    assert len(rows_in(built_release(study, background="left_out"))) == PEOPLE


def test_a_built_release_outlives_the_deletion_of_operational_data(study: Study) -> None:
    release = requested_release(study)
    forget_operational_data(study)
    assert services.approve(release, actor=person(Role.IRB_OFFICER))


def test_a_package_that_was_changed_in_the_database_is_not_published(study: Study) -> None:
    release = requested_release(study)
    Release.objects.update(package=package_of(release).replace(b"slides,1,", b"slides,2,", 1))
    with pytest.raises(ReleaseError, match=r"not as it was built: data.csv"):
        services.approve(release, actor=person(Role.IRB_OFFICER))
    assert not Study.objects.get(pk=study.pk).data_published


def test_a_study_walked_on_its_pages_can_be_released(client: Client) -> None:
    """A release reads what the real journey leaves."""
    study = recruiting_study(allocation={"planned_participants": 48, "scheme": "permuted_block", "block_multiples": [1]})
    walk(client, study)
    add_finished_people(study, 47)
    Study.objects.filter(pk=study.pk).update(status="closed")
    rows = rows_in(built_release(Study.objects.get(pk=study.pk)))
    assert len(rows) == 48
    assert json.loads(files_in(package_of(Release.objects.get()))["results.json"])["n"] == 48
    assert selectors.obstacles(Study.objects.get(pk=study.pk), simulated=False) == []
    assert SITE in files_in(package_of(Release.objects.get()))["README.md"].decode()


def test_a_rehearsal_is_never_released(study: Study) -> None:
    rehearsal = closed_study(slug="a-rehearsal", accepts_bots=True)
    Study.objects.filter(pk=rehearsal.pk).update(rehearsal_of=study)
    with pytest.raises(ReleaseError, match="never released"):
        started_release(rehearsal)
