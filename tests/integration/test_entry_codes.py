"""Personal codes and panel numbers: who may come in, once."""

import csv
import io
import re
import time
from collections.abc import Callable, Iterator
from html import unescape
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Sum
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from audit.models import Entry
from surveys.models import CounterKind, EntryBook, EntryCode, Participant, ShardedCounter, Study, StudyStatus
from surveys.recruitment import slowing
from surveys.recruitment.made_codes import qr_svg
from surveys.recruitment.selectors import definition_shown
from surveys.recruitment.services import add_entry_codes
from surveys.recruitment.slowing import FREE_A_MINUTE, refused_codes
from surveys.review import services as reviews
from surveys.studies.services import change_definition
from surveys.tokens import hash_of_entry_code, hash_of_panel_identifier
from tests.factories import (
    address_of,
    answer,
    code_on,
    definition,
    everything_stored,
    heading,
    logged_in,
    page_of,
    person,
    recruiting_study,
    study_in,
    walk,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def forgotten_tries() -> Iterator[None]:
    refused_codes.clear()
    yield
    refused_codes.clear()


@pytest.fixture
def study() -> Study:
    study = recruiting_study(entry={"kind": "codes"})
    add_entry_codes(study, codes=["ABCD-1234", "EFGH-5678"], actor=study.owner)
    return study


NUMBER = "5f1c0000000000000000000a"
REFUSED = "This code does not open the study"


def changed_since(before: dict[str, Any]) -> set[str]:
    """The tables that hold something else than before."""
    after = everything_stored()
    return {label for label in after if after[label] != before[label]}


def text_of(response: HttpResponse) -> str:
    """The words of a page, as a reader sees them."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", response.content.decode())).split())


def ticket_on(page: HttpResponse) -> str:
    found = re.search(r'name="ticket" value="([^"]*)"', page.content.decode())
    assert found is not None
    return found[1]


def spent_codes() -> set[str]:
    """The hashes of spent codes, in the book and in the table."""
    in_books = {code for codes in EntryBook.objects.values_list("codes", flat=True) for code in codes}
    return in_books | set(EntryCode.objects.filter(spent=True).values_list("code_hash", flat=True))


def with_code(code: str) -> dict[str, dict[str, str]]:
    return {"welcome": {"code": code}}


@pytest.mark.parametrize("typed", ["ABCD-1234", "abcd1234", " ab cd 12 34 "])
def test_a_code_opens_the_study_however_it_is_typed(client: Client, study: Study, typed: str) -> None:
    walk(client, study, answers=with_code(typed), until="background")
    assert spent_codes() == {hash_of_entry_code("ABCD1234", study.slug)}


def test_a_code_is_not_spent_before_consent(client: Client, study: Study) -> None:
    before = everything_stored()
    answer(client, study, "welcome", code="ABCD-1234")
    assert everything_stored() == before
    answer(client, study, "consent", choice="decline")
    assert not spent_codes()


def test_a_spent_code_opens_nothing(client: Client, study: Study) -> None:
    walk(Client(), study, answers=with_code("ABCD-1234"), until="background")
    before = everything_stored()
    response = answer(client, study, "welcome", code="ABCD-1234")
    assert (response.status_code, heading(response)) == (403, REFUSED)
    assert "use your personal link" in response.content.decode()
    assert changed_since(before) == {"surveys.ShardedCounter"}


def test_only_one_of_two_people_with_the_same_code_comes_in(study: Study) -> None:
    one, two = Client(), Client()
    for client in (one, two):
        answer(client, study, "welcome", code="ABCD-1234")
    assert answer(one, study, "consent").status_code == 303
    response = answer(two, study, "consent")
    assert (response.status_code, heading(response)) == (403, REFUSED)
    assert Participant.objects.count() == 1


@pytest.mark.parametrize("code", ["WXYZ-0000", "x", "-", "\x00", "ä" * 200])
def test_an_unknown_code_opens_nothing(client: Client, study: Study, code: str) -> None:
    response = answer(client, study, "welcome", code=code)
    assert (response.status_code, heading(response)) == (403, REFUSED)


@pytest.mark.parametrize("code", ["", "   "])
def test_without_a_code_the_page_asks_for_it(client: Client, study: Study, code: str) -> None:
    response = answer(client, study, "welcome", code=code)
    assert response.status_code == 422
    assert '<a href="#code">Enter your code.</a>' in response.content.decode()


def test_a_code_of_another_study_is_unknown(client: Client, study: Study) -> None:
    other = recruiting_study(slug="another-study", entry={"kind": "codes"})
    assert heading(answer(client, other, "welcome", code="ABCD-1234")) == REFUSED


def test_the_codes_themselves_are_not_stored(study: Study) -> None:
    stored = repr(everything_stored())
    for code in ("ABCD-1234", "ABCD1234", "EFGH5678"):
        assert code not in stored


def test_codes_that_are_there_already_stay_as_they_are(client: Client, study: Study) -> None:
    walk(client, study, answers=with_code("ABCD-1234"), until="background")
    assert add_entry_codes(study, codes=["abcd1234", "NEWW-0001"], actor=study.owner) == 1
    assert (spent_codes(), EntryCode.objects.count()) == ({hash_of_entry_code("ABCD1234", study.slug)}, 3)
    assert Entry.objects.filter(action="study.codes_added").last().details == {"count": 1}


@pytest.fixture
def post(study: Study) -> Callable[..., HttpResponse]:
    """Send a form of the codes page, as the investigator."""
    desk = logged_in(study.owner)
    return lambda **values: desk.post(reverse("surveys:codes", args=[study.slug]), values)


def test_a_file_is_shown_before_its_codes_are_added(post: Callable[..., HttpResponse], client: Client, study: Study) -> None:
    before = everything_stored()
    response = post(
        action="read", file=SimpleUploadedFile("course.csv", "\ufeffName;code\r\nAnn;NEWW-0001\r\nBob;ABCD-1234\r\nEve;A1\r\n".encode())
    )
    page = text_of(response)
    assert everything_stored() == before
    assert "2 codes in the file" in page
    assert "2 of 2, separated by semicolon" in page
    assert "course.csv, UTF-8" in page
    assert "Name · code" in page
    assert "1 of them is in the study already and stays as it is" in page
    assert "line 4: expected 8 to 64 letters and digits, found 2" in page
    assert "no-store" in response["Cache-Control"]
    carried = re.search(r'name="codes" value="([^"]*)"', response.content.decode())
    assert carried is not None
    assert post(action="add", codes=carried[1]).status_code == 302
    assert EntryCode.objects.count() == 3
    walk(client, study, answers=with_code("neww 0001"), until="background")


@pytest.mark.parametrize("carried", ["", "short", "NEWW;0001X", "NEWW0001 ÄÖÜÄÖÜÄÖÜ"])
def test_what_the_page_did_not_show_is_not_added(post: Callable[..., HttpResponse], carried: str) -> None:
    before = everything_stored()
    assert post(action="add", codes=carried).status_code == 422
    assert everything_stored() == before


@pytest.mark.parametrize(
    ("upload", "sentence"),
    [
        (None, "Choose a file with codes of at most 5 MB."),
        (SimpleUploadedFile("big.csv", b"x" * (5 * 1024 * 1024 + 1)), "Choose a file with codes of at most 5 MB."),
        (SimpleUploadedFile("bad.csv", b"code\nab\n"), "line 2: expected 8 to 64 letters and digits, found 2"),
        # Stored as three codes of seven signs before, so that nobody of the class came in.
        (SimpleUploadedFile("class.csv", b"XYZA1;ANN\nXYZB2;BOB\nXYZC3;EVE\n"), "line 1: expected 8 to 64 letters and digits, found 5"),
    ],
    ids=["none", "too big", "bad", "semicolons"],
)
def test_a_bad_upload_adds_nothing(post: Callable[..., HttpResponse], upload: SimpleUploadedFile | None, sentence: str) -> None:
    before = everything_stored()
    response = post(action="read", **({"file": upload} if upload else {}))
    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert everything_stored() == before


def test_codes_that_are_shorter_than_new_ones_must_be_keep_working(client: Client, study: Study) -> None:
    add_entry_codes(study, codes=["A7K2"], actor=study.owner)
    walk(client, study, answers=with_code("a7k2"), until="background")


def test_unknown_and_spent_codes_are_refused_in_the_same_words(study: Study) -> None:
    walk(Client(), study, answers=with_code("ABCD-1234"), until="background")
    spent, unknown = (answer(Client(), study, "welcome", code=code) for code in ("ABCD-1234", "WXYZ-0000"))
    assert (spent.status_code, spent.content) == (unknown.status_code, unknown.content)


def test_after_many_wrong_codes_each_try_waits_and_a_right_code_still_opens_the_study(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    clock = SimpleNamespace(time=lambda: now, monotonic=lambda: now)  # the count sinks by one in three seconds
    monkeypatch.setattr(slowing, "time", clock)
    for number in range(FREE_A_MINUTE):
        assert answer(client, study, "welcome", code=f"WRONG{number:04}").status_code == 403
    assert answer(client, study, "welcome", code="WRONG9999").status_code == 403
    before = everything_stored()
    pages = {code: answer(Client(), study, "welcome", code=code) for code in ("ABCD-1234", "WRONG5555")}
    for code, page in pages.items():  # nothing tells a right code from a wrong one
        assert (page.status_code, page["Retry-After"]) == (429, "1")
        assert "Wait 1 second, then press Start again. Your code stays good." in page.content.decode()
        assert f'value="{code}"' in page.content.decode()
    assert everything_stored() == before
    ticket = {code: ticket_on(page) for code, page in pages.items()}
    assert answer(client, study, "welcome", code="ABCD-1234", ticket=ticket["ABCD-1234"]).status_code == 429
    clock.time = lambda: now + 2
    # A ticket is good for the code with which somebody waited, and for no other.
    assert answer(client, study, "welcome", code="ABCD-1234", ticket=ticket["WRONG5555"]).status_code == 429
    assert answer(client, study, "welcome", code="ABCD-1234", ticket=ticket["ABCD-1234"]).status_code == 303
    assert heading(client.get(address_of(study))) != REFUSED


def test_another_study_does_not_wait(client: Client, study: Study) -> None:
    other = recruiting_study(slug="another-study", entry={"kind": "codes"})
    for number in range(FREE_A_MINUTE + 2):
        answer(client, study, "welcome", code=f"WRONG{number:04}")
    assert answer(client, other, "welcome", code="WRONG9999").status_code == 403


def test_refused_codes_are_counted_without_anything_about_the_person(
    post: Callable[..., HttpResponse], client: Client, study: Study
) -> None:
    shown = "tries with unknown or spent codes were refused."
    for number in range(20):
        assert shown not in text_of(post(action="check")), "each is somebody at the door"
        answer(client, study, "welcome", code=f"WRONG{number:04}")
    counted = ShardedCounter.objects.filter(kind=CounterKind.CODE_REFUSED).aggregate(Sum("count"))
    assert counted["count__sum"] == 20
    assert f"10 {shown}" in text_of(post(action="check"))


def test_made_codes_open_the_study_and_only_their_hashes_are_kept(post: Callable[..., HttpResponse], client: Client, study: Study) -> None:
    page = post(action="make", count="3", seed="s" * 43)
    codes = re.findall(r'<code class="code">([^<]*)</code>', page.content.decode())
    assert len(set(codes)) == 3
    assert EntryCode.objects.count() == 5
    assert not any(code in repr(everything_stored()) or code.replace("-", "") in repr(everything_stored()) for code in codes)
    assert "no-store" in page["Cache-Control"]
    walk(client, study, answers=with_code(codes[0].lower()), until="background")


def test_a_reload_and_the_table_show_the_same_made_codes(post: Callable[..., HttpResponse], study: Study) -> None:
    given = {"count": "3", "seed": "s" * 43}
    page = post(action="make", **given).content.decode()
    assert post(action="make", **given).content.decode().count('class="slip"') == 3
    table = post(action="table", **given)
    assert EntryCode.objects.count() == 5
    rows = list(csv.DictReader(io.StringIO(table.content.decode())))
    assert table["Content-Disposition"] == f'attachment; filename="codes-{study.slug}.csv"'
    assert [row["code"] for row in rows] == re.findall(r'<code class="code">([^<]*)</code>', page)
    for row in rows:
        assert row["link"] == f"http://testserver/s/{study.slug}/#code={row['code'].replace('-', '')}"


@pytest.mark.parametrize("count", ["", "0", "-1", "1001", "ten", "1e3", "\N{ARABIC-INDIC DIGIT THREE}", "9" * 40])
def test_a_number_of_codes_that_cannot_be_made_makes_none(post: Callable[..., HttpResponse], count: str) -> None:
    before = everything_stored()
    response = post(action="make", count=count, seed="s" * 43)
    assert response.status_code == 422
    assert "a whole number from 1 to 1000" in response.content.decode()
    assert everything_stored() == before


def test_the_link_of_a_study_has_a_qr_code(study: Study) -> None:
    desk = logged_in(study.owner)
    page = desk.get(reverse("surveys:study", args=[study.slug])).content.decode()
    address = reverse("surveys:study_link_qr", args=[study.slug])
    assert f'src="{address}"' in page
    assert 'data-copy="study-link"' in page
    drawing = desk.get(address)
    assert drawing["Content-Type"] == "image/svg+xml"
    assert drawing.content.decode() == qr_svg(f"http://testserver/s/{study.slug}/")


def test_completion_codes_are_told_genuine_forged_repeated_and_foreign(
    post: Callable[..., HttpResponse], client: Client, study: Study
) -> None:
    other = recruiting_study(slug="another-study")
    genuine = code_on(walk(client, study, answers=with_code("ABCD-1234")), "completion")
    foreign = code_on(walk(Client(), other), "completion")
    before = everything_stored()
    page = post(action="check", codes=f"{genuine.lower()}\n\n{foreign}\nAAAA-AAAA-AAAA-AAAA\n").content.decode()
    assert f"<code>{genuine.lower()}</code></th><td>genuine</td>" in page
    assert f"<code>{foreign}</code></th><td>not a code of this study</td>" in page
    assert "<code>AAAA-AAAA-AAAA-AAAA</code></th><td>not a code of this study</td>" in page
    after = everything_stored()
    # Only the check's audit entry is kept; it says how many codes there were, not which.
    assert {label for label in after if after[label] != before[label]} == {"audit.Entry", "audit.Head"}
    assert Entry.objects.order_by("sequence").last().details == {"count": 3}


def test_a_withdrawal_code_that_is_handed_in_by_mistake_is_told(post: Callable[..., HttpResponse], client: Client, study: Study) -> None:
    code = code_on(walk(client, study, answers=with_code("ABCD-1234")), "withdrawal")
    page = post(action="check", codes=code.lower()).content.decode()
    assert "a student’s withdrawal code: do not keep it, ask for the one that begins with DONE" in page


def test_a_code_that_two_students_hand_in_is_shown(post: Callable[..., HttpResponse], client: Client, study: Study) -> None:
    genuine = code_on(walk(client, study, answers=with_code("ABCD-1234")), "completion")
    page = post(action="check", codes=f"{genuine}\n{genuine.lower().replace('-', '')}\n").content.decode()
    assert page.count("genuine, but handed in more than once") == 2


@pytest.mark.parametrize(("kind", "parameter"), [("prolific", "PROLIFIC_PID"), ("sona", "survey_code"), ("qualtrics", "ResponseID")])
def test_a_panel_member_comes_in_once(kind: str, parameter: str) -> None:
    study = recruiting_study(entry={"kind": kind})
    walk(Client(), study, answers={"welcome": {parameter: NUMBER}})
    response = answer(Client(), study, "welcome", **{parameter: NUMBER})
    assert (response.status_code, heading(response)) == (403, "You have already taken part")
    assert list(EntryBook.objects.get().members.values()) == [hash_of_panel_identifier(f"{kind}:{NUMBER}", study.slug)]


def test_a_panel_member_in_two_browsers_comes_in_once() -> None:
    study = recruiting_study(entry={"kind": "prolific"})
    one, two = Client(), Client()
    for client in (one, two):
        answer(client, study, "welcome", PROLIFIC_PID=NUMBER)
    assert answer(one, study, "consent").status_code == 303
    assert heading(answer(two, study, "consent")) == "You have already taken part"
    assert Participant.objects.count() == len(EntryBook.objects.get().members) == 1


@pytest.mark.parametrize("identifier", [None, "", "a\x00b", "x" * 101, "<script>", "a b", NUMBER[:-1], NUMBER + "0"])
def test_a_panel_link_without_a_proper_number_opens_nothing(client: Client, identifier: str | None) -> None:
    study = recruiting_study(entry={"kind": "prolific"})
    response = answer(client, study, "welcome", **({} if identifier is None else {"PROLIFIC_PID": identifier}))
    said = "This link was changed on the way" if identifier else "We do not know this link"
    assert (response.status_code, heading(response)) == (403, said)
    assert "PROLIFIC_PID" not in response.content.decode()


def test_a_panel_number_in_the_address_is_escaped(client: Client) -> None:
    study = recruiting_study(entry={"kind": "prolific"})
    page = client.get(address_of(study), {"PROLIFIC_PID": '"><script>alert(1)</script>'}).content.decode()
    assert "<script>alert" not in page


def test_a_panel_member_is_sent_back_with_their_own_number(client: Client) -> None:
    study = recruiting_study(entry={"kind": "sona", "completion_url": "https://example.org/credit?survey_code={identifier}"})
    page = walk(client, study, answers={"welcome": {"survey_code": "abc-123"}})
    assert 'href="https://example.org/credit?survey_code=abc-123"' in page.content.decode()


def test_pages_about_personal_codes_lead_to_where_these_are_chosen() -> None:
    study = recruiting_study()
    for page in ("surveys:codes", "surveys:letters"):
        shown = page_of(logged_in(study.owner).get(reverse(page, args=[study.slug])))
        (link,) = shown.xpath("//div[@class='notice']//a/@href")
        assert link == reverse("surveys:build_ways", args=[study.slug])


def test_the_pages_of_a_draft_that_was_sent_back_show_what_it_says_now() -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    reviews.ask_for_changes(study, reason="Use codes.", actor=person(Role.IRB_OFFICER))
    change_definition(study, definition=definition(entry={"kind": "codes"}, title="Another title"), actor=study.owner)
    poster = logged_in(study.owner).get(reverse("surveys:poster", args=[study.slug]))
    assert "Another title" in poster.content.decode()
    study.refresh_from_db()
    assert definition_shown(study).entry.every_way[0].way.takes_code
