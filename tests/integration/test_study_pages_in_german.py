"""The pages behind a study’s tabs in German: no sentence stays English, and what programs read stays as it is."""

from collections.abc import Sequence

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Language, Role, User
from accounts.services import choose_language
from surveys.models import MemberRole, StudyStatus
from surveys.recruitment.made_codes import new_seed
from surveys.retention.services import begin_forgetting, forget_operational_data
from surveys.review import services as reviews
from surveys.sharing import services as sharing
from surveys.studies import services as studies
from tests.factories import draft_study, logged_in, page_of, person, recruiting_study, study_in
from tests.finished_people import add_finished_people, compute
from tests.integration.test_builder_in_german import content_of, full_document
from tests.integration.test_preregistration import PLANNED_TESTS, amended
from tests.integration.test_sharing import member
from tests.integration.test_staff_language import Act, german, must_be_german
from tests.stimuli import OF_A_KIND, arms_with
from webhooks.models import DeliveryStatus, Event
from webhooks.services import add_webhook, emit

pytestmark = pytest.mark.django_db


def posted(page: str, **values: object) -> Act:
    """The page that follows when these values are sent, from any browser."""

    def act(browser: Client) -> HttpResponse:
        return browser.post(page, values, follow=True)

    return act


def in_german(owner: User, pages: Sequence[str]) -> str:
    """The German words that an English page quotes."""
    texts = [text for page in pages for text in page_of(logged_in(owner).get(page)).xpath("//*[@lang='de']//text()")]
    return " ".join(" ".join(text.split()) for text in texts) + " English, Deutsch 1, Slides with the instructor "


def with_file(page: str, content: str) -> Act:
    def act(browser: Client) -> HttpResponse:
        return browser.post(page, {"action": "read", "file": SimpleUploadedFile("codes.csv", content.encode())})

    return act


def test_the_people_of_a_study_are_german_as_a_whole() -> None:
    study = draft_study()
    people = reverse("surveys:people", args=[study.slug])
    viewer = member(study, MemberRole.VIEWER)
    for role in (MemberRole.EDITOR, MemberRole.BLINDED_VIEWER, MemberRole.ANALYST):
        member(study, role)
    sharing.invite(study, addressee="eve@example.org", role=MemberRole.EDITOR, actor=study.owner)
    content = content_of(study) + " eve@example.org "
    must_be_german(viewer, [people], content)
    must_be_german(study.owner, [people], content)
    browser = german(study.owner)
    roles = page_of(browser.get(people)).xpath("//select/option/@value")
    assert set(roles) == set(MemberRole.values)
    shown = browser.post(people, {"action": "invite", "addressee": "bob@example.org", "role": "viewer"}).content.decode()
    assert "Die Einladung für bob@example.org" in shown
    refused = browser.post(people, {"action": "invite", "addressee": viewer.username, "role": "viewer"})
    assert (refused.status_code, f"{viewer.username} arbeitet schon an dieser Studie" in refused.content.decode()) == (422, True)
    left = german(viewer).post(people, {"action": "leave"}, follow=True)
    assert f"Du hast die Studie „{study.title}“ verlassen" in left.content.decode()
    assert page_of(logged_in(person(Role.IRB_OFFICER)).get(people)).get("lang") == "en"


def test_the_codes_of_a_study_are_german_as_a_whole() -> None:
    study, draft = recruiting_study(entry={"kind": "codes"}), draft_study(slug="a-draft")
    codes, made = reverse("surveys:codes", args=[study.slug]), {"action": "make", "count": "3", "seed": new_seed()}
    listed = "name;code\nAda;ABCD-1234\nBob;short\nEve;ABCD 1234\n"
    pages: list[str | Act] = [
        codes,
        posted(codes, **made),
        posted(codes, **made | {"count": "x"}),
        posted(codes, **made | {"seed": "x"}),
        posted(codes, **made | {"section": "9"}),
        with_file(codes, listed),
        with_file(codes, "a,b\nno,none\n"),
        with_file(codes, "code,code\nABCD1234,EFGH5678\n"),
        posted(codes, action="read"),
        posted(codes, action="add", codes="short"),
        posted(codes, action="check", codes="DONE-1234\nDONE-1234"),
        posted(codes, action="check", codes=""),
    ]
    must_be_german(
        study.owner,
        pages,
        content_of(study) + " Your personal code The code opens the study once. Scan the picture, or open codes.csv, UTF-8 ",
    )
    must_be_german(draft.owner, [reverse("surveys:codes", args=[draft.slug])], content_of(draft))
    browser = german(study.owner)
    assert "2 neue Codes kamen hinzu." in posted(codes, action="add", codes="ABCD1234 EFGH5678")(browser).content.decode()
    table = browser.post(codes, {**made, "action": "table"})
    assert table["Content-Type"] == "text/csv; charset=utf-8"
    assert table.content.startswith(b"code,link\r\n")
    assert page_of(browser.post(codes, {**made, "count": "1000"})).xpath("//input[@name='count']/@value") == ["1000"]


def test_the_webhooks_of_a_study_are_german_as_a_whole() -> None:
    study, empty = draft_study(), draft_study(slug="untold")
    page, address = reverse("webhooks:webhooks", args=[study.slug]), "https://example.org/hook"
    hook = add_webhook(study, address=address, events=Event.values, site="https://candor.example", actor=study.owner)
    for event, status in zip(Event.values, (*DeliveryStatus, *[DeliveryStatus.WAITING] * len(Event)), strict=False):
        emit(study.pk, Event(event))
        due = timezone.now() if status == DeliveryStatus.WAITING else None
        hook.deliveries.filter(event=event).update(status=status, error="no answer: ConnectError", due_at=due)
    mistakes = ({"address": "http://x"}, {"address": "https://a:b@example.org/"}, {"address": address, "events": ["study.closed"]}, {})
    pages: list[str | Act] = [page, *(posted(page, **wrong) for wrong in mistakes), posted(page, action="renew", webhook=str(hook.pk))]
    content = f"{content_of(study)} {address} http://x study.closed {', '.join(Event.values)} "
    must_be_german(study.owner, pages, content)
    must_be_german(empty.owner, [reverse("webhooks:webhooks", args=[empty.slug])], content_of(empty))
    browser = german(study.owner)
    assert "Diese Adresse erfährt nichts mehr." in posted(page, action="remove", webhook=str(hook.pk))(browser).content.decode()
    added = page_of(posted(page, address=address, events=["study.closed"])(browser))
    assert added.xpath("string(//*[@id='secret'])").startswith("whsec_")
    assert set(added.xpath("//input[@name='events']/@value")) == set(Event.values)


def test_the_plan_that_was_kept_is_german_as_a_whole() -> None:
    """Its file stays as it was kept."""
    strata = {"planned_participants": 400, "strata": ["asked"]}
    kept = study_in(StudyStatus.IN_REVIEW, **full_document(), analysis=PLANNED_TESTS, allocation=strata)
    kept = reviews.approve(kept, actor=person(Role.IRB_OFFICER), reason="It is needed here.")
    in_sections = {"planned_participants": 480, "unit": "cluster", "sections": 8, "block_multiples": [1]}
    sections = recruiting_study(slug="in-sections", owner=kept.owner, allocation=in_sections)
    draft = draft_study(slug="a-draft", owner=kept.owner)
    survey = recruiting_study(slug="a-survey", owner=kept.owner, arms=[{"name": "all", "label": "Everybody here"}], control="all")
    every = (kept, sections, survey, draft)
    pages = [reverse("surveys:protocol_preregistration", args=[one.slug]) for one in every]
    covariates = ", ".join(one["name"] for one in full_document()["background"] if one["kind"] != "short_text")
    must_be_german(kept.owner, pages, " ".join([covariates, *(content_of(one) for one in every)]))
    shown = german(kept.owner).get(pages[0]).content.decode()
    assert "sobald 400 Teilnehmende mit dem Würfel geantwortet haben" in shown
    assert "in der ersten Sprache der Studie (English)" in shown
    assert "first language" not in logged_in(kept.owner).get(pages[0]).content.decode()
    for kind in ("json", "html"):
        file = reverse("surveys:protocol_preregistration_file", args=[kept.slug, 1, kind])
        in_german = german(kept.owner).get(file).content
        choose_language(user=kept.owner, language=Language.ENGLISH)
        assert in_german == logged_in(kept.owner).get(file).content


def test_planned_and_done_are_german_as_a_whole() -> None:
    every = [recruiting_study(slug="tests", analysis=PLANNED_TESTS), amended(recruiting_study()), recruiting_study(slug="it-runs")]
    for study in every[:2]:
        add_finished_people(study, 40, seed=3)
        compute(studies.close(study, actor=study.owner))
    for study in every:
        must_be_german(study.owner, [reverse("analysis:results_preregistration", args=[study.slug])], content_of(study))


def test_the_protocol_and_its_changes_are_german_as_a_whole() -> None:
    """The study's own texts stay in the packet's language, and places in the study's file keep their names."""
    officer, direct = person(Role.IRB_OFFICER), {"share": 0.25, "consent": "You may be asked without a die."}
    kinds = draft_study(slug="kinds", **full_document() | arms_with(*OF_A_KIND), analysis=PLANNED_TESTS)
    asked = draft_study(slug="asked", owner=kinds.owner, direct_group=direct)
    sections = recruiting_study(
        slug="in-sections", allocation={"planned_participants": 480, "unit": "cluster", "sections": 8, "block_multiples": [1]}
    )
    survey = study_in(StudyStatus.IN_REVIEW, slug="a-survey", arms=[{"name": "all", "label": "Everybody here"}], control="all")
    waits, changed = study_in(StudyStatus.IN_REVIEW, slug="waits"), amended(recruiting_study())
    reviews.comment(waits, actor=officer, section="consent", text="The words of an officer.", resolves=False)
    reviews.sign(waits, actor=officer, part="consent", version=1, signed=True)
    content = " ".join(content_of(one) for one in (kinds, asked, sections, survey, waits, changed)) + " The words of an officer. "
    of_officer = [reverse("surveys:protocol", args=[one.slug]) for one in (waits, survey, sections)]
    changes = [reverse("surveys:protocol_changes", args=[waits.slug, 1]), reverse("surveys:protocol_changes", args=[changed.slug, 2])]
    drafts = [f"{reverse('surveys:protocol', args=[one.slug])}?draft=1" for one in (kinds, asked)]
    must_be_german(officer, [*of_officer, *changes, f"{changes[1]}?since=1"], content + in_german(officer, of_officer))
    must_be_german(kinds.owner, drafts, content + in_german(kinds.owner, drafts))
    packet = page_of(german(officer).get(f"{of_officer[0]}?language=en"))
    assert set(packet.xpath("//ol[contains(@class, 'packet-questions')]/@lang")) == {"en"}
    assert set(packet.xpath("//ol[contains(@class, 'packet-questions')]//p[@class='muted']/@lang")) == {"de"}
    commented = posted(reverse("surveys:comment", args=[waits.slug]), section="consent", text="More words.")(german(officer))
    assert "Gespeichert." in commented.content.decode()


def test_the_page_that_deletes_operational_data_is_german_as_a_whole() -> None:
    running, closed, deleted = recruiting_study(), recruiting_study(slug="closed"), recruiting_study(slug="deleted")
    for study in (closed, deleted):
        studies.close(study, actor=study.owner)
    began = recruiting_study(slug="began", owner=closed.owner)
    add_finished_people(began, 12, seed=1)
    began = studies.close(began, actor=began.owner)
    begin_forgetting(began, actor=began.owner)
    forget_operational_data(deleted, actor=deleted.owner)
    for study in (running, closed, began, deleted):
        page = reverse("surveys:forget", args=[study.slug])
        acts = [posted(page, confirmation="another")] if study == closed else []
        must_be_german(study.owner, [page, *acts], content_of(study))


def test_the_page_of_what_people_wrote_is_german_as_a_whole() -> None:
    asked = {"kind": "short_text", "name": "subject", "text": {"en": "Which subject?", "de": "Welches Fach?"}, "longest": 30}
    none, running = draft_study(slug="none"), recruiting_study(background=[asked])
    closed = recruiting_study(slug="closed", background=[asked], owner=none.owner)
    add_finished_people(closed, 12, seed=1)
    studies.close(closed, actor=closed.owner)
    for study in (none, running, closed):
        must_be_german(study.owner, [reverse("surveys:words", args=[study.slug])], content_of(study))


def test_a_preview_is_german_around_the_pages_that_participants_see() -> None:
    study = draft_study()
    page = reverse("surveys:preview", args=[study.slug])
    must_be_german(study.owner, [page], content_of(study))
    shown = page_of(german(study.owner).get(page, {"step": "consent", "language": "en"}))
    (banner,) = shown.xpath("//section[@aria-labelledby='preview-title']")
    assert (shown.get("lang"), banner.get("lang")) == ("en", "de")
    assert "Vorschau – nichts wird gespeichert" in banner.text_content()
    assert "Einwilligung · Arm" in " ".join(banner.text_content().split())
    assert "Preview" not in shown.text_content()


@pytest.mark.parametrize(
    ("page", "sent", "said"),
    [
        ("surveys:codes", {"action": "read", "file": "a\n" * 210_000}, "höchstens 200.000 Zeilen"),
        ("analysis:rehearsal", {"action": "start", "bots": "9", "prevalence": "60,5", "effect": "50"}, "gefunden wurde 110,5"),
        ("surveys:import_study", {"file": "title: x" + "x" * 1_000_000}, "höchstens 1.000.000 Zeichen"),
    ],
)
def test_limits_are_written_as_the_language_writes_them(page: str, sent: dict[str, str], said: str) -> None:
    study = recruiting_study(entry={"kind": "codes"})
    files = {name: SimpleUploadedFile("codes.csv", value.encode()) for name, value in sent.items() if name == "file"}
    browser = german(study.owner)
    address = reverse(page, args=[] if page == "surveys:import_study" else [study.slug])
    assert said in browser.post(address, sent | files).content.decode()
