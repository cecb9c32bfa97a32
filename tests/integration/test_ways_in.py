"""Several ways into one study at once: who may come which way, where they go back to, and what nobody learns about it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from surveys.batches.selectors import ways_shown
from surveys.batches.services import keep_shown_numbers
from surveys.definition import StudyDefinition
from surveys.errors import EntryRefusedError
from surveys.models import ClassRoom, EntryBook, JoinCode, Participant, Study, StudyStatus, WayNumbers
from surveys.recruitment.services import add_entry_codes, renew_join_code, require_entry
from surveys.recruitment.slowing import refused_codes
from surveys.tokens import hash_of_panel_identifier
from tests.factories import (
    address_of,
    answer,
    code_on,
    everything_stored,
    follow,
    heading,
    logged_in,
    page_of,
    participant_of,
    recruiting_study,
    send,
    token_of,
    walk,
)

pytestmark = pytest.mark.django_db
PID, OTHER = "5f1c0000000000000000000a", "5f1c0000000000000000000b"
STUDY_AT_PROLIFIC = "60d9aaaaaaaaaaaaaaaaaaaa"
DONE, NO, OUT = (f"https://app.prolific.com/submissions/complete?cc={code}" for code in ("DONE1", "NOCON", "SCREEN"))
WORKER, ASSIGNMENT, HIT = "A2EXAMPLE12345", "3ASSIGNMENT000000000000000001", "3HIT0000000000000000000000001"
WAYS: list[dict[str, Any]] = [
    {"name": "poster", "label": "Poster in the library"},
    {"name": "lecture", "kind": "class"},
    {"name": "letters", "kind": "codes"},
    {
        "name": "prolific",
        "kind": "prolific",
        "completion_url": DONE,
        "declined_url": NO,
        "screened_out_url": OUT,
        "panel_study": STUDY_AT_PROLIFIC,
    },
    {"name": "psychology", "kind": "sona", "completion_url": "https://psy.example.org/?survey_code={identifier}"},
    {"name": "economics", "kind": "sona", "completion_url": "https://eco.example.org/?survey_code={identifier}"},
    {"name": "turk", "kind": "mturk"},
    {
        "name": "survey",
        "kind": "qualtrics",
        "completion_url": "https://uni.example.org/jfe/form/SV_2?id={identifier}&proof={completion_code}",
    },
]
PROLIFIC = {"PROLIFIC_PID": PID, "STUDY_ID": STUDY_AT_PROLIFIC, "SESSION_ID": "7a7a7a7a7a7a7a7a7a7a7a7a"}
TURK = {"workerId": WORKER, "assignmentId": ASSIGNMENT, "hitId": HIT}


@pytest.fixture(autouse=True)
def forgotten_tries() -> Iterator[None]:
    refused_codes.clear()
    yield
    refused_codes.clear()


@pytest.fixture
def study() -> Study:
    study = recruiting_study(entry={"ways": WAYS})
    add_entry_codes(study, codes=["ABCD-1234"], actor=study.owner)
    return study


def come(study: Study, query: dict[str, Any]) -> tuple[Client, Any]:
    """A new browser that opens this address, and the page that it gets."""
    client = Client()
    return client, client.get(address_of(study), query)


def start(client: Client, study: Study, page: Any, **typed: str) -> Any:
    """Press Start with all that the page carries."""
    carried = {one.get("name"): one.get("value") for one in page_of(page).xpath("//main//form//input[@type='hidden']")}
    return send(
        client, study, "welcome", **{"language": "en", **{k: v for k, v in carried.items() if k not in ("step", "language")}, **typed}
    )


def finish(study: Study, query: dict[str, Any], **typed: str) -> tuple[Client, Any]:
    """Walk from this address to the last page."""
    client, _page = come(study, query)
    carried = {name: value for name, value in query.items() if name != "hitId"}
    return client, walk(client, study, answers={"welcome": {"language": "en", **carried, **typed}})


def test_each_way_leads_its_people_back_to_where_they_came_from(study: Study) -> None:
    code = renew_join_code(study, way="lecture", actor=study.owner)
    back = {
        "poster": finish(study, {"way": "poster"}),
        "lecture": finish(study, {"join": code}),
        "letters": finish(study, {"way": "letters"}, code="ABCD-1234"),
        "prolific": finish(study, PROLIFIC),
        "psychology": finish(study, {"way": "psychology", "survey_code": "17"}),
        "economics": finish(study, {"way": "economics", "survey_code": "17"}),
    }
    expected = {
        "prolific": DONE,
        "psychology": "https://psy.example.org/?survey_code=17",
        "economics": "https://eco.example.org/?survey_code=17",
    }
    for way, (_client, page) in back.items():
        assert page_of(page).xpath("//a[@rel='noreferrer' and @class='button']/@href") == ([expected[way]] if way in expected else []), way
    assert WayNumbers.objects.get().counts == {way: {"agreed": 1, "finished": 1} for way in sorted(back)}


def test_no_table_says_who_came_which_way(study: Study) -> None:
    client, _page = finish(study, {"way": "psychology", "survey_code": "number-17"})
    stored = everything_stored()
    rows = [*stored["surveys.Participant"], *stored["surveys.Response"], *stored["surveys.EntryBook"]]
    assert not [row for row in rows if any(str(value) in ("psychology", "sona", "number-17") for value in row)]
    assert "psychology" not in repr(rows)
    assert "number-17" not in repr(stored)
    assert list(EntryBook.objects.get().members.values()) == [hash_of_panel_identifier("psychology:number-17", study.slug)]
    assert participant_of(client).token_hash not in repr(stored["surveys.WayNumbers"])


def test_the_two_departments_number_their_students_alone_and_prolific_everybody(study: Study) -> None:
    for way in ("psychology", "economics"):
        finish(study, {"way": way, "survey_code": "17"})
    again = answer(Client(), study, "welcome", way="economics", survey_code="17")
    assert (again.status_code, heading(again)) == (403, "You have already taken part")
    finish(study, PROLIFIC)
    twice = answer(Client(), study, "welcome", **PROLIFIC)
    assert heading(twice) == "You have already taken part"


def test_a_study_that_gets_more_ways_knows_who_was_there_before() -> None:
    one = recruiting_study(entry={"kind": "sona"})
    walk(Client(), one, answers={"welcome": {"survey_code": "17"}})
    document = one.protocol.definition | {"entry": {"ways": WAYS}}
    way = StudyDefinition.model_validate(document).entry.named("psychology")
    assert way is not None
    with pytest.raises(EntryRefusedError):
        require_entry(one, way, code="", panel_identifier="17")
    require_entry(one, way, code="", panel_identifier="18")


BROKEN, UNKNOWN, ELSEWHERE = "This link was changed on the way", "We do not know this link", "This link belongs to another study"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({**PROLIFIC, "PROLIFIC_PID": PID[:-1]}, BROKEN),
        ({**PROLIFIC, "PROLIFIC_PID": PID + "0"}, BROKEN),
        ({**PROLIFIC, "PROLIFIC_PID": [PID, OTHER]}, BROKEN),
        ({**PROLIFIC, "PROLIFIC_PID": [PID, PID]}, BROKEN),
        ({**PROLIFIC, "PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, BROKEN),
        ({**PROLIFIC, "SESSION_ID": "x"}, BROKEN),
        ({**PROLIFIC, "SESSION_ID": "<script>alert(1)</script>"}, BROKEN),
        ({**PROLIFIC, "STUDY_ID": OTHER}, ELSEWHERE),
        ({"PROLIFIC_PID": PID}, ELSEWHERE),
        ({"way": "prolific"}, UNKNOWN),
        ({"way": "nowhere"}, BROKEN),
        ({"way": "lecture"}, UNKNOWN),
        ({"way": ["poster", "letters"]}, BROKEN),
        ({"join": "CDFHJK"}, "This code does not open the study"),
        ({**TURK, "assignmentId": "short"}, BROKEN),
        ({"workerId": WORKER}, BROKEN),
        ({**TURK, "workerId": "B" * 14}, BROKEN),
        ({**TURK, "turkSubmitTo": "https://evil.example.org"}, BROKEN),
        ({**TURK, "turkSubmitTo": "https://www.mturk.com.evil.example.org"}, BROKEN),
        ({"ResponseID": "R_1 2"}, BROKEN),
        ({"ResponseID": "x" * 101}, BROKEN),
    ],
)
def test_a_link_that_was_cut_or_changed_is_told_so_and_opens_nothing(study: Study, query: dict[str, Any], said: str) -> None:
    before = everything_stored()
    _client, page = come(study, query)
    assert (page.status_code, heading(page)) == (403, said)
    assert "<script>alert" not in page.content.decode()
    assert heading(answer(Client(), study, "welcome", **query)) == said
    assert everything_stored() == before


def test_a_preview_at_mechanical_turk_says_so_and_takes_nobody_in(study: Study) -> None:
    before = everything_stored()
    _client, page = come(study, {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": HIT, "workerId": WORKER})
    assert (page.status_code, heading(page)) == (200, "This is a preview of the study")
    assert not page_of(page).xpath("//main//button[@type='submit']")
    sent = answer(Client(), study, "welcome", **{**TURK, "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"})
    assert heading(sent) == "This is a preview of the study"
    without_worker = come(study, {"way": "turk", "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": HIT})[1]
    assert heading(without_worker) == "This is a preview of the study"
    assert everything_stored() == before


@pytest.mark.parametrize(
    ("given", "site"),
    [({}, "https://www.mturk.com"), ({"turkSubmitTo": "https://workersandbox.mturk.com/"}, "https://workersandbox.mturk.com")],
)
def test_a_worker_goes_back_by_the_form_that_mechanical_turk_takes(study: Study, given: dict[str, str], site: str) -> None:
    client, page = finish(study, TURK | given)
    reloaded = client.get(address_of(study))
    for shown in (page, reloaded):
        [form] = page_of(shown).xpath(f"//form[@action='{site}/mturk/externalSubmit' and @method='post']")
        fields = {one.get("name"): one.get("value") for one in form.xpath(".//input")}
        assert fields["assignmentId"] == ASSIGNMENT
        assert set(fields) == {"assignmentId", "completion_code"}, "no token against forgery goes to another site"
        assert f"form-action 'self' {site}" in shown["Content-Security-Policy"]
    assert fields["completion_code"] == code_on(page, "completion")


def test_qualtrics_gets_its_own_value_back_and_a_code_that_proves_the_end(study: Study) -> None:
    _client, page = finish(study, {"ResponseID": "R_2aBcDeFgH"})
    code = code_on(page, "completion")
    assert page_of(page).xpath("//a[@rel='noreferrer']/@href") == [f"https://uni.example.org/jfe/form/SV_2?id=R_2aBcDeFgH&proof={code}"]


def test_a_refusal_of_consent_has_its_own_way_back(study: Study) -> None:
    client, page = come(study, PROLIFIC)
    assert start(client, study, page).status_code == 303
    declined = send(client, study, "consent", choice="decline")
    assert page_of(declined).xpath("//a[@rel='noreferrer']/@href") == [NO]
    [again] = page_of(declined).xpath("//a[contains(., 'Go back to the first page')]/@href")
    assert Client().get(again).status_code == 200, "the way to the first page keeps the panel's parameters"
    assert not Participant.objects.exists()
    assert not EntryBook.objects.exists()
    assert WayNumbers.objects.get().counts == {"prolific": {"declined": 1}}
    worker, page = come(study, TURK)
    start(worker, study, page)
    assert "Give your place back on the site that sent you" in send(worker, study, "consent", choice="decline").content.decode()


def test_a_personal_link_to_another_device_keeps_the_way(study: Study) -> None:
    client, page = come(study, PROLIFIC)
    start(client, study, page)
    send(client, study, "consent", choice="agree", version="1")
    other = Client()
    assert other.post(f"{address_of(study)}resume/{token_of(client)}/").status_code == 303
    last = follow(other, study)
    assert page_of(last).xpath("//a[@rel='noreferrer']/@href") == [DONE]


def test_the_numbers_of_a_way_come_in_tens_and_a_small_way_shows_nothing(study: Study) -> None:
    def after(**people: int) -> dict[str, Any]:
        counts = {way: {"agreed": count} for way, count in people.items()}
        WayNumbers.objects.update_or_create(study=study, defaults={"counts": counts})
        keep_shown_numbers(study)
        return ways_shown(study)

    assert after(poster=3, letters=19) == {"poster": {"agreed": 0}, "letters": {"agreed": 0}}
    assert after(poster=9, letters=20) == {"poster": {"agreed": 0}, "letters": {"agreed": 10}}
    assert after(poster=19, letters=29) == {"poster": {"agreed": 0}, "letters": {"agreed": 10}}
    keep_shown_numbers(study, shown_as=int)
    assert ways_shown(study) == {"poster": {"agreed": 10}, "letters": {"agreed": 20}}, "at the end in tens, too"
    book = EntryBook.objects.create(study=study, codes=[f"{number:064}" for number in range(9)])
    Study.objects.filter(pk=study.pk).update(status=StudyStatus.CLOSED)
    page = logged_in(study.owner).get(reverse("surveys:codes", args=[study.slug]))
    assert page.context["spent_count"] == 0, "nor does the page of codes tell it"
    assert "The study has several ways in, so spent codes and refused tries are counted in whole tens." in page.content.decode()
    book.delete()
    shown = {after(poster=count)["poster"]["agreed"] for count in range(60)}
    assert shown == {0, 10, 20, 30, 40}


def test_numbers_of_ways_move_only_when_all_numbers_of_the_study_do(study: Study) -> None:
    keep_shown_numbers(study)
    WayNumbers.objects.create(study=study, counts={"poster": {"agreed": 500}})
    page = logged_in(study.owner).get(reverse("surveys:ways_in", args=[study.slug])).content.decode()
    assert page.count("<dd>0 agreed, 0 finished") == len(WAYS)
    keep_shown_numbers(study)
    assert "<dd>490 agreed, 0 finished" in logged_in(study.owner).get(reverse("surveys:ways_in", args=[study.slug])).content.decode()


def test_a_study_with_one_way_counts_no_ways() -> None:
    study = recruiting_study(entry={"kind": "sona"})
    walk(Client(), study, answers={"welcome": {"survey_code": "17"}})
    assert not WayNumbers.objects.exists()


def test_a_class_types_its_code_and_a_renewed_one_opens_nothing(study: Study) -> None:
    owner, page = logged_in(study.owner), reverse("surveys:ways_in", args=[study.slug])
    assert "none yet" in owner.get(page).content.decode()
    assert owner.post(page, {"renew": "lecture"}).status_code == 302
    code = JoinCode.objects.get().code
    made = owner.get(page).content.decode()
    assert (f"The join code is {code}." in made, "The one before" in made) == (True, False)
    typed = f" {code[:3].lower()} {code[3:].lower()} ".translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
    there = Client().get(reverse("surveys:join"), {"code": typed})
    assert (there.status_code, there["Location"]) == (302, f"{address_of(study)}?join={code}")
    assert heading(Client().get(there["Location"])) != "This code does not open the study"
    client, welcome = come(study, {"join": code})
    assert start(client, study, welcome).status_code == 303
    owner.post(page, {"renew": "lecture"})
    assert "The one before opens nothing any more." in owner.get(page).content.decode()
    assert JoinCode.objects.get().code != code
    assert heading(Client().get(there["Location"])) == "This code does not open the study"
    empty = Client().get(reverse("surveys:join"), {"code": " "})
    assert (empty.status_code, '<a href="#code">Enter your code.' in empty.content.decode()) == (422, True)
    gone = Client().get(reverse("surveys:join"), {"code": code})
    assert gone.status_code == 404
    assert "No study and no room has this code today" in gone.content.decode()
    assert send(client, study, "consent", choice="agree", version="1").status_code == 303, "people who have begun go on"


def test_the_page_of_codes_leads_to_the_room_of_a_demonstration_too(client: Client) -> None:
    client.post(reverse("surveys:in_class"), {"question": "listened"})
    room = ClassRoom.objects.get().code
    assert client.get(reverse("surveys:join"), {"code": room.lower()})["Location"] == reverse("surveys:class_room", args=[room])


def test_only_a_class_has_a_join_code(study: Study) -> None:
    owner = logged_in(study.owner)
    owner.post(reverse("surveys:ways_in", args=[study.slug]), {"renew": "poster"})
    assert not JoinCode.objects.exists()
    api = owner.post(reverse("surveys:api_join_codes", args=[study.slug]), json.dumps({"way": "prolific"}), content_type="application/json")
    assert api.status_code == 400


def test_programs_read_the_same_ways_and_renew_codes(study: Study) -> None:
    owner = logged_in(study.owner)
    made = owner.post(reverse("surveys:api_join_codes", args=[study.slug]), json.dumps({"way": "lecture"}), content_type="application/json")
    assert made.status_code == 201
    ways = {one["name"]: one for one in owner.get(reverse("surveys:api_ways_in", args=[study.slug])).json()}
    assert list(ways) == [one["name"] for one in WAYS]
    assert ways["lecture"]["address"].endswith(f"?join={made.json()['code']}")
    assert ways["poster"]["address"].endswith(address_of(study)), "the first open way needs no name in its address"
    assert ways["letters"]["address"].endswith("?way=letters")
    assert ways["prolific"]["panel_address"].endswith(
        "?way=prolific&PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    assert ways["poster"]["numbers"] == {"agreed": 0, "finished": 0, "declined": 0, "screened_out": 0}


def test_the_slips_of_codes_name_their_way_beside_an_open_link(study: Study) -> None:
    owner = logged_in(study.owner)
    page = owner.post(reverse("surveys:codes", args=[study.slug]), {"action": "table", "count": "2", "seed": "x" * 43})
    lines = page.content.decode().splitlines()[1:]
    assert all("?way=letters#code=" in line for line in lines)
    code, link = lines[0].split(",")
    client = Client()
    welcome = client.get(link.split("testserver")[1].split("#")[0])
    assert page_of(welcome).xpath("//input[@id='code']")
    assert start(client, study, welcome, code=code).status_code == 303
    assert not page_of(Client().get(address_of(study))).xpath("//input[@id='code']"), "the open way asks for no code"


def test_a_poster_has_the_code_of_its_way_and_none_for_a_panel(study: Study) -> None:
    owner, page = logged_in(study.owner), reverse("surveys:poster", args=[study.slug])
    code = renew_join_code(study, way="lecture", actor=study.owner)
    poster = owner.get(page, {"way": "lecture"}).content.decode()
    assert code in poster
    assert 'class="qr"' in poster
    assert "Nimm an einer Studie teil" in owner.get(page, {"way": "poster", "language": "de"}).content.decode()
    assert 'class="qr"' not in owner.get(page, {"way": "prolific"}).content.decode()
    assert 'class="qr"' in owner.get(page).content.decode()


def test_the_packet_lists_every_way_with_what_is_kept(study: Study) -> None:
    packet = logged_in(study.owner).get(reverse("surveys:protocol", args=[study.slug])).content.decode()
    for words in (
        "Poster in the library",
        "Number at Mechanical Turk",
        "hashes of numbers at Prolific",
        "no result is split by it",
        NO,
        OUT,
    ):
        assert words in packet, words
    about = Client().get(reverse("surveys:transparency", args=[study.slug]), headers={"accept-language": "en"}).content.decode()
    assert about.count("A fingerprint of your number at the panel") == 1
    assert "That your entry code was used" in about
