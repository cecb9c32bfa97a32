"""People of a panel whom a study does not take: sent back to where they came from."""

import pytest
from django.test import Client

from surveys.models import Study, WayNumbers
from surveys.studies import services as studies
from tests.factories import ATTENTION_CHECK, address_of, answer, heading, page_of, recruiting_study, send
from tests.integration.test_ways_in import OTHER, OUT, PROLIFIC, WAYS, come, start
from tests.integration.test_ways_in import study as study

pytestmark = pytest.mark.django_db


def test_people_whom_the_study_does_not_take_are_sent_back_so() -> None:
    study = recruiting_study(entry={"ways": WAYS}, background=[ATTENTION_CHECK], attention="exclude")
    client, page = come(study, PROLIFIC)
    start(client, study, page)
    send(client, study, "consent", choice="agree", version="1")
    refused = send(client, study, "background", check="red")
    assert heading(refused) == "This study ends here for you"
    assert page_of(refused).xpath("//a[@rel='noreferrer']/@href") == [OUT]
    assert WayNumbers.objects.get().counts == {"prolific": {"agreed": 1, "screened_out": 1}}
    again = send(client, study, "background", check="red")
    assert "If this study ended for you, or if you took your data out, there is nothing left to do." in page_of(again).text_content()


def test_a_full_study_sends_people_of_a_panel_back(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surveys.journey.services.has_room", lambda study, *, section: False)
    sent = answer(Client(), study, "welcome", **PROLIFIC)
    assert heading(sent) == "This study is full"
    assert page_of(sent).xpath("//a[@rel='noreferrer']/@href") == [OUT]


def test_a_study_that_has_ended_sends_people_of_a_panel_back(study: Study) -> None:
    """Newcomers, somebody who has pressed Start, and somebody half-way; people who came by the poster have nowhere to go back to."""
    (started, page), (half, other_page) = come(study, PROLIFIC), come(study, PROLIFIC | {"PROLIFIC_PID": OTHER})
    start(started, study, page)
    start(half, study, other_page)
    send(half, study, "consent", choice="agree", version="1")
    studies.close(study, actor=study.owner)
    asked = [Client().get(address_of(study), query) for query in (PROLIFIC, {"way": "poster"}, PROLIFIC | {"STUDY_ID": "0" * 24})]
    asked += [started.get(address_of(study)), half.get(address_of(study)), send(half, study, "background")]
    assert {heading(one) for one in asked} == {"This study has ended"}
    assert [page_of(one).xpath("//a[@rel='noreferrer']/@href") for one in asked] == [[OUT], [], [], [OUT], [OUT], [OUT]]
