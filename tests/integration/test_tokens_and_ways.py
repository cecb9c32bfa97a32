"""Tokens and visits that do not fit the ways into a study: made up, or from before an amendment."""

import base64
from typing import Any

import pytest
from django.test import Client

from accounts.models import Role
from surveys.models import ArmState, EntryBook, Participant, Study
from surveys.review import services as reviews
from surveys.studies import services as studies
from tests.factories import address_of, answer, definition, follow, heading, hidden_value, page_of, person, recruiting_study, send, walk

pytestmark = pytest.mark.django_db
WAYS = [{"name": "poster"}, {"name": "panel", "kind": "prolific"}]
PROLIFIC = {"PROLIFIC_PID": "5f1c0000000000000000000a"}


@pytest.mark.parametrize("brought", ["1", "null", '["poster", 1, {}]', '["poster", "1", []]', "[" * 2000, "{"])
def test_a_made_up_token_is_that_of_nobody(brought: str) -> None:
    """A full study looks into the token for the way back."""
    study, client = recruiting_study(entry={"ways": WAYS}), Client()
    client.cookies["candor_participant"] = f"made-up.{base64.urlsafe_b64encode(brought.encode()).decode().rstrip('=')}"
    ArmState.objects.filter(study=study).update(closed=True)
    refused = answer(client, study, "welcome", way="poster")
    assert (refused.status_code, heading(refused)) == (403, "This study is full")


def amended(study: Study, entry: dict[str, Any]) -> Study:
    study = studies.change_definition(study, definition=definition(entry=entry), actor=study.owner)
    study = studies.submit_for_review(study, actor=study.owner)
    return studies.resume(reviews.approve(study, actor=person(Role.IRB_OFFICER)), actor=study.owner)


@pytest.mark.parametrize("before", [{"kind": "prolific"}, {"ways": [{"name": "poster"}, {"name": "panel"}]}])
def test_whoever_began_before_an_amendment_of_the_ways_comes_in_by_one_that_is_there(before: dict[str, Any]) -> None:
    """Attack: somebody whose way is gone, or asks for more by now, came in by the first one, open to everybody, as often as they liked."""
    study, client = recruiting_study(entry=before), Client()
    assert answer(client, study, "welcome", **(PROLIFIC if "kind" in before else {"way": "panel"})).status_code == 303
    study = amended(study, {"ways": WAYS})
    anew = client.get(send(client, study, "consent", choice="agree", version="2")["Location"])
    assert not Participant.objects.exists()
    if "kind" in before:
        assert hidden_value(anew, "PROLIFIC_PID") == PROLIFIC["PROLIFIC_PID"]
    else:
        assert heading(anew) == "We do not know this link"
    walk(client, study, answers={"welcome": PROLIFIC}, until="background")
    assert len(EntryBook.objects.get().members) == 1


@pytest.mark.parametrize("after", [{"kind": "open"}, {"ways": [{"name": "poster"}, {"name": "letters", "kind": "codes"}]}])
def test_a_link_of_a_panel_that_an_amendment_took_away_is_no_open_link(after: dict[str, Any]) -> None:
    """It let its people in by the open link: without a way back, so that nobody credited them, and as often as they liked."""
    study, done, reader, stale = recruiting_study(entry={"ways": WAYS}), Client(), Client(), Client()
    walk(done, study, answers={"welcome": PROLIFIC})
    answer(reader, study, "welcome", **(PROLIFIC | {"PROLIFIC_PID": "5f1c0000000000000000000b"}))
    study = amended(study, after)
    ended = [
        Client().get(address_of(study), PROLIFIC),
        answer(Client(), study, "welcome", **PROLIFIC),
        reader.get(answer(reader, study, "consent", version="2")["Location"]),
        answer(stale, study, "welcome", PROLIFIC_PID="5f1c0000000000000000000c"),
    ]
    assert [(one.status_code, heading(one)) for one in ended] == [(403, "This link is no longer used")] * len(ended)
    assert Participant.objects.count() == 1
    others = {"survey_code": "17", "utm_source": "poster"}
    assert heading(Client().get(address_of(study), others)) == study.title, "the study never had a way of that panel"


def test_a_renamed_way_knows_its_people_and_leaves_the_numbers_of_the_others_alone() -> None:
    """A student of economics was told that they had taken part already: the same number had come by psychology, under its old name."""
    economics = {"name": "economics", "kind": "sona"}
    study = recruiting_study(entry={"ways": [{"name": "psychology", "kind": "sona"}, economics]})
    walk(Client(), study, answers={"welcome": {"way": "psychology", "survey_code": "17"}})
    for name in ("psych", "psychology"):
        study = amended(study, {"ways": [{"name": name, "kind": "sona"}, economics]})
        assert heading(answer(Client(), study, "welcome", way=name, survey_code="17")) == "You have already taken part"
        assert answer(Client(), study, "welcome", way="economics", survey_code="17").status_code == 303
    walk(Client(), study, answers={"welcome": {"way": "economics", "survey_code": "17"}})
    assert heading(answer(Client(), study, "welcome", way="economics", survey_code="17")) == "You have already taken part"


def test_whoever_began_while_there_was_one_way_goes_back_by_it_beside_others() -> None:
    """Their token tells nothing of the way: with it they found no way back from the last page."""
    back = "https://course.example.org/done"
    study, client = recruiting_study(entry={"kind": "open", "completion_url": back}), Client()
    answer(client, study, "welcome")
    study = amended(study, {"ways": [{"name": "open", "completion_url": back}, {"name": "panel", "kind": "prolific"}]})
    answer(client, study, "consent", version="2")
    assert not Participant.objects.exists()
    assert back in walk(client, study).content.decode()


OUT, OF_OTHERS = "https://panel.example.org/full", "https://panel.example.org/another-study"
NAMED = {"name": "panel", "kind": "prolific", "screened_out_url": OUT}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([{"name": "poster"}, NAMED], [{"name": "poster"}, NAMED | {"name": "autumn"}]),
        ([{"name": "poster"}, NAMED], [{"name": "panel"}, NAMED | {"name": "autumn", "screened_out_url": OF_OTHERS}]),
        ([{"name": "poster"}, NAMED], [{"name": "poster"}, {"name": "panel", "kind": "sona", "screened_out_url": OF_OTHERS}]),
        ([], [{"name": "poster"}, NAMED | {"name": "autumn", "screened_out_url": OF_OTHERS}]),
    ],
    ids=["renamed", "its name is that of another one", "another panel has its name", "it was the only one"],
)
def test_people_of_a_full_study_go_back_by_the_way_that_they_came_by(before: list[dict[str, str]], after: list[dict[str, str]]) -> None:
    """They agreed before an amendment of the ways, and the study was full after it."""
    study = recruiting_study(entry={"ways": before} if before else {"kind": "prolific", "screened_out_url": OUT})
    client = Client()
    walk(client, study, answers={"welcome": PROLIFIC}, until="background")
    study = amended(study, {"ways": after})
    ArmState.objects.filter(study=study).update(closed=True)
    refused = answer(client, study, "background")
    assert (heading(refused), Participant.objects.exists()) == ("This study is full", False)
    assert page_of(refused).xpath("//a[@rel='noreferrer']/@href") == [OUT]


WRONG, RIGHT = "https://panel.example.org/done?cc=WRONG", "https://panel.example.org/done?cc=RIGHT"


def way_of_panel(name: str, *, kind: str = "prolific", done: str | None) -> dict[str, Any]:
    return {"name": name, "kind": kind} | ({"completion_url": done} if done else {})


@pytest.mark.parametrize(
    ("before", "after", "leads"),
    [
        (way_of_panel("panel", done=WRONG), way_of_panel("panel", done=RIGHT), RIGHT),
        (way_of_panel("panel", done=None), way_of_panel("panel", done=RIGHT), RIGHT),
        (way_of_panel("panel", done=WRONG), way_of_panel("autumn", done=RIGHT), WRONG),
        (way_of_panel("panel", done=WRONG), way_of_panel("panel", kind="sona", done=RIGHT), WRONG),
        (way_of_panel("panel", done=WRONG), way_of_panel("panel", done=RIGHT + "&id={identifier}"), WRONG),
        (way_of_panel("panel", done=WRONG), way_of_panel("panel", done=RIGHT + "&proof={completion_code}"), WRONG),
        (way_of_panel("panel", done=WRONG + "&id={identifier}"), way_of_panel("panel", done=RIGHT), RIGHT),
    ],
    ids=["corrected", "forgotten", "renamed", "another panel has its name", "tells the number", "tells the code", "tells less"],
)
def test_people_inside_go_back_by_a_corrected_address_that_tells_the_panel_no_more(
    before: dict[str, Any], after: dict[str, Any], leads: str
) -> None:
    """A wrong address of a panel stayed wrong for everybody who had agreed before the amendment: nobody paid them."""
    study, client = recruiting_study(entry={"ways": [{"name": "poster"}, before]}), Client()
    walk(client, study, answers={"welcome": PROLIFIC}, until="quiz")
    study = amended(study, {"ways": [{"name": "poster"}, after]})
    last = follow(client, study)
    assert page_of(last).xpath("//a[@rel='noreferrer']/@href") == [leads]
    assert page_of(client.get(address_of(study))).xpath("//a[@rel='noreferrer']/@href") == [leads], "after a reload"


def test_people_of_the_only_way_go_back_by_its_corrected_address() -> None:
    study, client = recruiting_study(entry={"kind": "prolific", "screened_out_url": OF_OTHERS}), Client()
    walk(client, study, answers={"welcome": PROLIFIC}, until="background")
    study = amended(study, {"kind": "prolific", "screened_out_url": OUT})
    ArmState.objects.filter(study=study).update(closed=True)
    assert page_of(answer(client, study, "background")).xpath("//a[@rel='noreferrer']/@href") == [OUT]


def test_somebody_who_was_turned_away_and_comes_otherwise_goes_back_by_the_new_way() -> None:
    """Their browser still holds the token of their first visit."""
    other = {"name": "autumn", "kind": "sona", "screened_out_url": OF_OTHERS}
    study, client = recruiting_study(entry={"ways": [{"name": "poster"}, NAMED, other]}), Client()
    walk(client, study, answers={"welcome": PROLIFIC}, until="background")
    ArmState.objects.filter(study=study).update(closed=True)
    assert page_of(answer(client, study, "background")).xpath("//a[@rel='noreferrer']/@href") == [OUT]
    again = answer(client, study, "welcome", way="autumn", survey_code="17")
    assert page_of(again).xpath("//a[@rel='noreferrer']/@href") == [OF_OTHERS]


PAID_BY_SONA = {"name": "sona", "kind": "sona", "completion_url": "https://psy.example.org/?survey_code={identifier}"}
TWO_PANELS = [way_of_panel("panel", done=RIGHT), PAID_BY_SONA, way_of_panel("again", done=WRONG)]


def test_somebody_whom_two_panels_invite_goes_on_by_the_first_in_their_browser() -> None:
    study, client, sona = recruiting_study(entry={"ways": TWO_PANELS}), Client(), {"way": "sona", "survey_code": "17"}
    walk(client, study, answers={"welcome": {"way": "panel", **PROLIFIC}}, until="quiz")
    assert heading(client.get(address_of(study), {"way": "again", **PROLIFIC})) == "A short quiz", "the same number is the same person"
    asked = client.get(address_of(study), sona, follow=True)
    assert heading(asked) == "Begin as somebody else"
    (back,) = page_of(asked).xpath("//main//form//a/@href")
    assert heading(client.get(back)) == "A short quiz"
    follow(client, study)
    taken = client.get(address_of(study), sona)
    assert heading(taken) == "Somebody has taken part here"
    assert page_of(taken).xpath("//a[@rel='noreferrer']/@href") == [RIGHT], "the panel that knows them as a participant"
    assert Participant.objects.count() == 1


def test_two_ways_of_one_panel_know_a_person_in_every_browser_and_two_panels_do_not() -> None:
    """Nothing that is kept could tell that two numbers are one person's; docs/investigators.md says so."""
    study = recruiting_study(entry={"ways": TWO_PANELS})
    walk(Client(), study, answers={"welcome": {"way": "panel", **PROLIFIC}})
    refused = answer(Client(), study, "welcome", way="again", **PROLIFIC)
    assert heading(refused) == "You have already taken part"
    assert answer(Client(), study, "welcome", way="sona", survey_code="17").status_code == 303
