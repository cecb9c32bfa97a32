"""People are on their way while an amendment is proposed, waits and comes into force: everybody stays under what they agreed to."""

import json
from dataclasses import asdict
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from candor.packages.archive import files_in
from surveys.batches.selectors import consent_counts
from surveys.batches.services import keep_shown_numbers
from surveys.counts import exact_consent_counts, exact_counts
from surveys.journey import services as participation
from surveys.models import Participant, Study, StudyStatus, WayNumbers
from surveys.protocols import protocol_in_force, versions_that_recruited
from surveys.retention.selectors import months_kept
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.tokens import hash_of_token, withdrawal_code
from tests.course_students import hand_in, launch, signed_token, study_with_credit, waiting
from tests.course_students import platform as platform
from tests.factories import (
    address_of,
    answer,
    definition,
    draft_study,
    follow,
    heading,
    hidden_value,
    logged_in,
    person,
    recruiting_study,
    steps_of,
    token_of,
    walk,
)
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.lti_platform import CoursePlatform
from tests.releases import PEOPLE, built_release, package_of, withdraw_one

pytestmark = pytest.mark.django_db
STEPS = [step for step in steps_of(definition()) if step != "finished"]
OLD, NEW = "Consent as it was at the launch.", "Consent that was written anew."
OLD_END, NEW_END = "The end as it was at the launch.", "The end that was written anew."
SAME: dict[str, Any] = {"die": TELLING_DIE, "allocation": {"planned_participants": 2 * PEOPLE, "block_multiples": [1]}}


@pytest.fixture
def study() -> Study:
    return recruiting_study(consent=OLD, debrief=OLD_END, **SAME)


def submitted(study: Study, **others: Any) -> Study:
    changed = definition(consent=NEW, debrief=NEW_END, minimum_seconds=60, watching={"mode": "required", "share": 1.0}, **SAME, **others)
    return studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)


def approved(study: Study) -> Study:
    study = reviews.approve(study, actor=person(Role.IRB_OFFICER), reason="The die tells much, and has to.")
    return studies.resume(study, actor=study.owner)


def amended(study: Study) -> Study:
    return approved(submitted(study))


def test_people_at_every_step_finish_under_the_version_to_which_they_agreed(study: Study) -> None:
    on_the_way = STEPS[2:]
    before, while_it_waits = ({step: Client() for step in on_the_way} for _moment in range(2))
    for step, client in (*before.items(), *while_it_waits.items()):
        walk(client, study, until=step)
    study = submitted(study)
    finish(while_it_waits, study)
    study = approved(study)
    late = Client()
    walk(late, study, until="video")
    assert answer(late, study, "video").status_code == 422, "they agreed to a text that says that the lecture has to be watched"
    finish(before, study)
    counts = exact_counts(study)
    assert (counts.consented, counts.assigned, counts.finished) == (2 * len(on_the_way) + 1, 2 * len(on_the_way) + 1, 2 * len(on_the_way))
    agreed = [(one.version, one.agreed) for one in exact_consent_counts(study)]
    assert agreed == [(1, 2 * len(on_the_way)), (2, 1)]


def finish(people: dict[str, Client], study: Study) -> None:
    """Everybody goes on from the step at which they are; the last page has the text of the version to which they agreed."""
    for step, client in people.items():
        token = token_of(client)
        for name in STEPS[STEPS.index(step) :]:
            assert answer(client, study, name).status_code == 303, (step, name)
        last = client.get(address_of(study)).content.decode()
        assert OLD_END in last, step
        assert NEW_END not in last, step
        assert Participant.objects.get(withdrawal_hash=participation.hash_of_withdrawal_code(withdrawal_code(token))).protocol.version == 1


def test_somebody_of_the_older_version_takes_their_data_out(study: Study) -> None:
    client = Client()
    walk(client, study, until="questions")
    study = amended(study)
    assert participation.withdraw(study, code=withdrawal_code(token_of(client)))
    assert [(one.version, one.agreed, one.withdrew) for one in exact_consent_counts(study)] == [(1, 1, 1)]
    walk(Client(), study, until="video")
    told = [asdict(one) for one in consent_counts(studies.close(study, actor=study.owner))]
    assert told == [{"version": version, "agreed": 0, "declined": 0, "withdrew": 0} for version in (1, 2)], "exact numbers would name them"


def test_a_refusal_belongs_to_the_version_that_was_read(study: Study) -> None:
    """Nobody has read the newer text before a page that shows it: with a page of before, they refuse the older one."""
    readers = {version: Client() for version in ("1", "2", "3", "x", "")}
    for client in readers.values():
        answer(client, study, "welcome")
    study = amended(study)
    for version, client in readers.items():
        assert answer(client, study, "consent", choice="decline", version=version).status_code == 200
    assert [(one.version, one.declined) for one in exact_consent_counts(study)] == [(1, 1), (2, 4)]


def test_a_package_has_the_consent_of_every_version_whoever_agreed_to_it(study: Study) -> None:
    """The attack: few agreed to one version. They withdraw, and the next package lacks its text, which tells whose data are gone."""
    add_finished_people(study, PEOPLE)
    study = amended(study)
    assert study.status == StudyStatus.RECRUITING
    study = studies.close(study, actor=study.owner)
    expected = [{"protocol_version": 1, "text": OLD}, {"protocol_version": 2, "text": NEW}]
    assert consents(study) == expected
    withdraw_one(study)
    assert consents(study) == expected


def test_a_package_has_the_direct_groups_consent_of_every_version_too() -> None:
    """Their text is the only one by which they agreed to answer without a die. That of the version in force may say something else."""
    old, new = ({"share": 0.2, "consent": text} for text in ("May we ask you directly?", "May we ask you, and keep it for ten years?"))
    study = recruiting_study(direct_group=old, **SAME)
    add_finished_people(study, PEOPLE)
    changed = studies.change_definition(study, definition=definition(direct_group=new, **SAME), actor=study.owner)
    study = studies.close(approved(studies.submit_for_review(changed, actor=study.owner)), actor=study.owner)
    texts = [{"protocol_version": version, "text": one["consent"]} for version, one in enumerate((old, new), start=1)]
    assert published_protocol(study)["direct_group"]["consent"] == texts


def consents(study: Study) -> object:
    return published_protocol(study)["consent"]


def published_protocol(study: Study) -> dict[str, Any]:
    protocol: dict[str, Any] = json.loads(files_in(package_of(built_release(study)))["protocol.json"])
    return protocol


def test_nobody_reads_the_title_of_an_amendment_before_officers_approve_it(study: Study) -> None:
    """The attack: a title is written anew after the approval, and officers' pages, report and letters name the decision by it."""
    approved_title, officer = study.title, person(Role.IRB_OFFICER)
    changed = definition(title="Ethically unobjectionable", **SAME)
    study = studies.change_definition(study, definition=changed, actor=study.owner)
    pages = [reverse(name, args=[study.slug]) for name in ("surveys:study", "surveys:review", "surveys:protocol", "surveys:study_log")]
    addresses = [*pages, reverse("surveys:studies"), "/api/v1/studies/", "/api/v1/review/decisions/", f"/api/v1/studies/{study.slug}/"]

    def titles() -> set[tuple[bool, bool]]:
        shown = [logged_in(officer).get(address).content.decode() for address in addresses]
        return {(approved_title in one, "Ethically unobjectionable" in one) for one in shown}

    assert titles() == {(True, False)}
    study = submitted(study, title="Ethically unobjectionable")
    assert study.title == approved_title, "it waits for the officers, who read it in the protocol packet"
    study = approved(study)
    assert study.title == "Ethically unobjectionable"
    assert titles() == {(False, True)}


def test_studies_of_before_get_the_title_in_force_and_drafts_keep_theirs(study: Study) -> None:
    plain, draft = recruiting_study(slug="plain", title="A title in one language", languages=["en"]), draft_study(slug="draft")
    expected = {study.pk: study.title, plain.pk: "A title in one language", draft.pk: "A title in the making"}
    Study.objects.update(title="A title in the making")
    import_module("surveys.migrations.0036_title_in_force").take_the_title_in_force(apps, connection.schema_editor())
    assert dict(Study.objects.values_list("pk", "title")) == expected


def test_people_whose_way_in_an_amendment_takes_away_are_told_so() -> None:
    """They read that their link was changed on the way, and were sent back to take the same one again."""
    ways = [{"name": name, "kind": "open"} for name in ("street", "campus", "letters")]
    study = recruiting_study(entry={"ways": ways}, **SAME)
    reader, finisher = Client(), Client()
    for client, until in ((reader, "consent"), (finisher, "video")):
        follow(client, study, until=until, answers={"welcome": {"way": "campus"}})
    changed = definition(entry={"ways": ways[::2]}, **SAME)
    study = studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)
    study = approved(study)
    for client, address in ((reader, answer(reader, study, "consent")["Location"]), (Client(), f"{address_of(study)}?way=campus")):
        page = client.get(address)
        assert (page.status_code, heading(page)) == (403, "This link is no longer used"), page.content.decode()
    assert heading(Client().get(address_of(study), {"way": "camp"})) == "This link was changed on the way"
    assert heading(Client().get(address_of(study), {"way": "letters"})) == study.title
    assert heading(follow(finisher, study)) == "Thank you"


def test_a_way_that_an_amendment_took_away_keeps_its_numbers() -> None:
    """People came by it, and neither the page nor the API said so. A way by which few came looks like one by which nobody did."""
    named = {"street": "open", "campus": "open", "lecture": "class", "letters": "codes"}
    ways = [{"name": name, "kind": kind} for name, kind in named.items()]
    study = recruiting_study(entry={"ways": ways}, **SAME)
    finisher = Client()
    follow(finisher, study, until="video", answers={"welcome": {"way": "campus"}})
    page, programs = reverse("surveys:ways_in", args=[study.slug]), reverse("surveys:api_ways_in", args=[study.slug])
    owner = logged_in(study.owner)

    def amended_to(entry: dict[str, Any], *, gone: int) -> Study:
        changed = definition(entry=entry, **SAME)
        waiting = studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)
        assert len(ended()) == gone, "it waits for the officers"
        return approved(waiting)

    def ended() -> dict[str, Any]:
        found = {one["name"]: one for one in owner.get(programs).json() if one["ended"]}
        assert all(one["address"] == one["panel_address"] == one["join_code"] == "" for one in found.values())
        assert owner.get(page).content.decode().count("An amendment has taken this way away.") == len(found)
        return {name: one["numbers"] for name, one in found.items()}

    nobody = {"agreed": 0, "finished": 0, "declined": 0, "screened_out": 0}
    study = amended_to({"ways": [ways[0], {"name": "hall", "kind": "open"}]}, gone=0)
    assert ended() == {"campus": nobody, "lecture": nobody, "letters": nobody}, "one person came by one of them"
    follow(finisher, study)
    numbers = WayNumbers.objects.get()
    assert numbers.counts == {"campus": {"agreed": 1, "finished": 1}}
    numbers.counts = {"campus": {"agreed": 29, "finished": 25}, "letters": {"agreed": 3}}
    numbers.save()
    assert ended()["campus"] == nobody, "they are renewed with all numbers of the study"
    keep_shown_numbers(study)
    assert ended() == {"campus": nobody | {"agreed": 10, "finished": 10}, "lecture": nobody, "letters": nobody}
    shown = owner.get(page).content.decode()
    assert "10 agreed, 10 finished" in shown
    assert 'value="lecture"' not in shown, "no join code for a class that opens nothing"
    assert logged_in(study.owner).get(reverse("surveys:poster", args=[study.slug]), {"way": "campus"}).status_code == 200
    study = amended_to({}, gone=3)
    assert list(ended()) == ["street", "campus", "lecture", "letters", "hall"]
    assert ended()["campus"]["agreed"] == 10, "the only way has no numbers of its own, and hides none of those that had"


def test_a_draft_has_no_way_that_ended() -> None:
    """A way that was tried out in a draft, or approved and never opened, brought nobody."""
    ways = [{"name": name, "kind": "open"} for name in ("street", "campus", "hall")]
    study = draft_study(entry={"ways": ways})
    study = studies.change_definition(study, definition=definition(entry={"ways": ways[:2]}), actor=study.owner)
    shown = logged_in(study.owner).get(reverse("surveys:api_ways_in", args=[study.slug])).json()
    assert [(one["name"], one["ended"]) for one in shown] == [("street", False), ("campus", False)]


def test_a_file_of_an_amendment_that_is_taken_back_leaves_nothing_to_approve(study: Study) -> None:
    """The attack: with the file as it was under another number, the next renewal would be an amendment, and stop the study."""
    name = next(name for name in protocol_in_force(study).definition.files() if name.endswith(".vtt"))

    def upload(words: str) -> HttpResponse:
        content = ContentFile(f"WEBVTT\n\n00:00.000 --> 00:05.000\n{words}\n".encode(), name=name)
        return logged_in(study.owner).post(f"/api/v1/studies/{study.slug}/media/", {"file": content, "name": name})

    assert upload("approved").status_code == 201
    study = amended(study)
    for words, amends in (("others", True), ("approved", False), ("approved", False), ("others", True)):
        assert upload(words).status_code == 201
        assert studies.is_amended(Study.objects.get(pk=study.pk)) == amends
    waiting = studies.submit_for_review(study, actor=study.owner)
    assert upload("approved").status_code == 409, "officers read the other file"
    assert not studies.is_amended(approved(waiting))


def test_a_version_that_was_amended_before_anybody_could_agree_to_it_promises_nothing(study: Study) -> None:
    """A mistake that officers approved, and that was mended before the study went on, would have deleted everybody's data early."""
    kept = months_kept(study)
    study = reviews.approve(submitted(study, retention={"months_after_closing": 1}), actor=person(Role.IRB_OFFICER), reason="It has to.")
    assert (months_kept(study), sorted(versions_that_recruited(study))) == (1, [1, 2]), "newcomers would read it from the next moment on"
    study = approved(submitted(study))
    assert (months_kept(study), sorted(versions_that_recruited(study))) == (kept, [1, 3])
    copies = [Client().get(reverse("surveys:consent_copy", args=[study.slug]), {"version": version}).status_code for version in (1, 2, 3)]
    assert copies == [200, 404, 200]
    study = reviews.approve(submitted(study), actor=person(Role.IRB_OFFICER), reason="A renewal, with which the study goes on.")
    study = approved(submitted(study, title="Another title"))
    assert sorted(versions_that_recruited(study)) == [1, 3, 4]


def test_students_of_a_course_have_their_credit_under_whichever_version(platform: CoursePlatform) -> None:
    study = study_with_credit()
    early, midway, late = Client(), Client(), Client()
    for client, sub, until in ((early, "ada", "consent"), (midway, "bob", "video")):
        launch(client, platform, study, sub=sub)
        walk(client, study, until=until)
    changed = definition(consent=NEW)
    study = studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)
    assert launch(late, platform, study, sub="eve").status_code == 303
    assert hand_in(late, study, action="without").status_code == 303, "who does not take part while it waits has the credit, too"
    study = approved(study)
    for client in (early, midway):
        page = follow(client, study)
        assert hand_in(client, study, credit=signed_token(client, study, hidden_value(page, "ticket"))).status_code == 303
    assert sorted(waiting(study)) == ["ada", "bob", "eve"]
    assert [(one.version, one.agreed) for one in exact_consent_counts(study)] == [(1, 1), (2, 1)]


def test_results_say_of_which_versions_they_are(study: Study) -> None:
    client = logged_in(study.owner)
    assert "one of these versions" not in client.get(reverse("analysis:results", args=[study.slug])).content.decode()
    study = amended(study)
    assert "one of these versions of the protocol: 1, 2." in client.get(reverse("analysis:results", args=[study.slug])).content.decode()
    assert client.get(reverse("analysis:api_results", args=[study.slug])).json()["protocol_versions"] == [1, 2]


def test_a_version_that_was_approved_and_never_opened_is_nobodys_once_the_study_is_closed(study: Study) -> None:
    """The attack: an amendment is approved after the last person came, and the package says that people agreed to its text."""
    add_finished_people(study, PEOPLE)
    study = reviews.approve(submitted(study), actor=person(Role.IRB_OFFICER), reason="It has to.")
    copy = reverse("surveys:consent_copy", args=[study.slug])
    assert NEW in Client().get(copy).content.decode(), "newcomers would read it from the next moment on"
    study = studies.close(study, actor=study.owner)
    assert sorted(versions_that_recruited(study)) == [1]
    shown = Client().get(copy).content.decode()
    assert (OLD in shown, NEW in shown, "another version" in shown) == (True, False, False)
    assert [Client().get(copy, {"version": version}).status_code for version in (1, 2)] == [200, 404]
    assert consents(study) == [{"protocol_version": 1, "text": OLD}]


def test_a_retention_that_never_opened_deletes_nobodys_data_early(study: Study) -> None:
    """The attack: one month is approved after the last person came, who read another number, and the study is closed."""
    kept = months_kept(study)
    study = reviews.approve(submitted(study, retention={"months_after_closing": 1}), actor=person(Role.IRB_OFFICER), reason="It has to.")
    assert months_kept(study) == 1 < kept, "newcomers would read it from the next moment on"
    assert months_kept(studies.close(study, actor=study.owner)) == kept


LANGUAGES = ("en", "de")


def test_people_of_every_version_and_language_come_back_and_leave_at_any_moment() -> None:
    """A link to another device, the copy of the consent and the receipt are those of the version and language of the person."""
    texts = [{"en": f"Consent number {number}.", "de": f"Einwilligung Nummer {number}."} for number in range(1, 5)]
    study = recruiting_study(consent=texts[0], **SAME)
    people: list[tuple[Client, int, str]] = []

    def come(version: int) -> None:
        for language in LANGUAGES:
            for until in ("video", "questions", "finished"):
                client = Client(headers={"accept-language": "en"})
                consent = {"choice": "agree", "version": str(version)}
                follow(client, study, until=until, answers={"welcome": {"language": language}, "consent": consent})
                people.append((client, version, language))

    def submit(text: dict[str, str]) -> Study:
        changed = definition(consent=text, **SAME)
        return studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)

    def look_and_leave() -> None:
        """Everybody looks; of each version and language one person leaves."""
        left = set()
        for client, version, language in list(people):
            token, address = token_of(client), address_of(study)
            device = Client(headers={"accept-language": "pl, fr"})
            assert f'lang="{language}"' in device.get(f"{address}resume/{token}/").content.decode()
            assert device.post(f"{address}resume/{token}/").status_code == 303
            copy = device.get(reverse("surveys:consent_copy", args=[study.slug])).content.decode()
            assert texts[version - 1][language] in copy, (version, language)
            assert not [text for text in texts if text != texts[version - 1] and text[language] in copy]
            if (version, language) in left:
                continue
            left.add((version, language))
            gone = device.post(f"{address}withdraw/", {"stage": "confirm", "code": withdrawal_code(token)}).content.decode()
            assert {"en": "Deleted on", "de": "Gelöscht am"}[language] in gone, gone
            again = device.get(f"{address}withdraw/").content.decode()
            assert f'lang="{language}"' in again, "on this device it stays their language"
            assert Client().get(f"{address}resume/{token}/").status_code == 404
            people.remove((client, version, language))

    come(1)
    study = submit(texts[1])
    look_and_leave()
    study = reviews.approve(study, actor=person(Role.IRB_OFFICER), reason="It has to.")
    look_and_leave()
    study = studies.resume(study, actor=study.owner)
    come(2)
    study = reviews.approve(submit(texts[2]), actor=person(Role.IRB_OFFICER), reason="It has to.")
    study = studies.resume(study, actor=study.owner)
    come(3)
    look_and_leave()
    study = submit(texts[3])
    study = studies.close(study, actor=study.owner)
    assert study.submitted is None
    people[:] = [one for one in people if Participant.objects.filter(token_hash=hash_of_token(token_of(one[0]))).exists()]
    look_and_leave()
    assert [(one.version, one.agreed, one.withdrew) for one in exact_consent_counts(study)] == [(1, 6, 6), (2, 6, 4), (3, 6, 4)]
