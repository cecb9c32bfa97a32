"""Bots: people in every respect but one. They walk the real pages, and only studies that say so take them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO, StringIO
from pathlib import Path
from socket import socket
from typing import Any

import httpx
import numpy as np
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import CommandError, call_command
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client

from audit.models import Entry
from candor.planning.simulation import Behaviour
from surveys.allocation.services import change_arm
from surveys.bots.population import Bot, Habits, Population
from surveys.bots.sending import arms_by_stimulus
from surveys.bots.walker import Ending, Walker
from surveys.counts import exact_counts
from surveys.journey.visitors import BOT_COOKIE, bot_ticket
from surveys.models import AllocationSlot, CategoryResponse, DirectAnswer, Participant, Response, Step, Study
from surveys.protocols import protocol_in_force
from surveys.recruitment.services import add_entry_codes
from surveys.studies import services as studies
from tests.categories import FREQUENCY, with_frequency
from tests.factories import QUESTIONS, address_of, answer, definition, document, participant_of, recruiting_study, study_in, walk

FAITHFUL = Habits(declines=0, drops_out=0, leaves_blank=0, misunderstands=0)


@pytest.fixture
def study(db: None) -> Study:
    return recruiting_study(accepts_bots=True, watching={"mode": "required", "share": 0.8}, allocation={"planned_participants": 300})


@pytest.fixture
def browser(db: None) -> Iterator[httpx.Client]:
    """A browser of the application in this process, which leaves the test's connection open as Django's own client does."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    with httpx.Client(transport=httpx.WSGITransport(app=WSGIHandler()), follow_redirects=True) as client:
        yield client
    for signal in signals:
        signal.connect(close_old_connections)


def population(study: Study, *, behaviour: Behaviour = Behaviour.ALWAYS_NO, habits: Habits = FAITHFUL, **shares: float) -> Population:
    shares = {"prevalence": 0.4, "effect": 0.2, "cheater_proportion": 0.0} | shares
    return Population.of(protocol_in_force(study).definition, behaviour=behaviour, habits=habits, **shares)


def send_one(
    study: Study, crowd: Population, *, seed: int, browser: httpx.Client, ticket: str | None = None, patience_seconds: float = 0
) -> Ending:
    """One bot through the pages."""
    return walker(study, crowd, seed=seed, browser=browser, ticket=ticket, patience_seconds=patience_seconds).walk()


def walker(
    study: Study, crowd: Population, *, seed: int, browser: httpx.Client, ticket: str | None = None, patience_seconds: float = 0
) -> Walker:
    """One bot before the first page, in a browser without memory of the last."""
    browser.cookies.clear()
    browser.cookies.set(BOT_COOKIE, bot_ticket(study.slug) if ticket is None else ticket)
    protocol = protocol_in_force(study)
    rng = np.random.default_rng(seed)
    return Walker(
        client=browser,
        address=f"http://localhost{address_of(study)}",
        bot=crowd.draw(rng),
        population=crowd,
        arm=protocol.definition.control,
        arms_of_stimulus=arms_by_stimulus(protocol),
        rng=rng,
        patience_seconds=patience_seconds,
    )


def test_a_bot_reads_its_text_and_knows_its_arm_by_it(browser: httpx.Client) -> None:
    arms = [{"name": name, "label": name, "reading": {"text": f"The text of **{name}**.", "seconds": 60}} for name in ("one", "other")]
    allocation = {"planned_participants": 48, "scheme": "permuted_block", "block_multiples": [1]}
    arms = [{"name": "nothing", "label": "Nothing"}, *arms]
    study = recruiting_study(accepts_bots=True, arms=arms, control="nothing", allocation=allocation)
    crowd, known = population(study), dict[object, str]()
    for seed in range(6):  # one block: each arm in both subsamples
        bot = walker(study, crowd, seed=seed, browser=browser)
        assert bot.walk() == Ending.FINISHED
        person = Participant.objects.exclude(pk__in=known).get()
        known[person.pk] = bot.arm
        assert bot.arm == person.arm
    assert Counter(known.values()) == {"nothing": 2, "one": 2, "other": 2}


def test_a_bot_answers_everything_and_is_marked_as_a_bot(study: Study, browser: httpx.Client) -> None:
    assert send_one(study, population(study), seed=1, browser=browser) == Ending.FINISHED
    bot = Participant.objects.get()
    assert bot.is_bot
    assert bot.step == Step.FINISHED
    assert set(bot.background) >= {"gender", "year"}
    assert set(bot.quiz) == {"groups", "control"}
    assert Response.objects.count() == len(QUESTIONS)


@pytest.mark.parametrize(("agrees", "answers"), [(1.0, len(QUESTIONS)), (0.0, 0)])
def test_a_bot_that_is_drawn_is_asked_directly_if_it_agreed(browser: httpx.Client, agrees: float, answers: int) -> None:
    study = recruiting_study(accepts_bots=True, direct_group={"share": 0.5, "consent": "May we?"})
    AllocationSlot.objects.update(subsample="direct")
    habits = Habits(declines=0, drops_out=0, agrees_to_direct=agrees, under_reports=1)
    assert send_one(study, population(study, habits=habits), seed=1, browser=browser) == Ending.FINISHED
    assert DirectAnswer.objects.filter(yes=False).count() == DirectAnswer.objects.count() == answers
    assert not Response.objects.exists()


def test_a_person_on_the_same_study_is_no_bot(study: Study, client: Client) -> None:
    walk(client, study, until="video")
    assert not participant_of(client).is_bot
    assert answer(client, study, "video").status_code == 422


def test_a_forged_or_foreign_ticket_makes_no_bot(study: Study) -> None:
    for ticket in ("", "forged", bot_ticket("another-study"), f"{bot_ticket(study.slug)}x"):
        client = Client()
        client.cookies[BOT_COOKIE] = ticket
        walk(client, study, until="video")
        assert not participant_of(client).is_bot
        assert answer(client, study, "video").status_code == 422


def test_a_study_that_takes_no_bots_sees_a_person(client: Client, db: None) -> None:
    study = recruiting_study(watching={"mode": "required", "share": 0.8})
    client.cookies[BOT_COOKIE] = bot_ticket(study.slug)
    walk(client, study, until="video")
    assert not participant_of(client).is_bot


def test_a_bot_that_declines_is_counted_and_stored_nowhere(study: Study, browser: httpx.Client) -> None:
    crowd = population(study, habits=Habits(declines=1))
    assert send_one(study, crowd, seed=1, browser=browser) == Ending.DECLINED
    assert exact_counts(study).declined == 1
    assert not Participant.objects.exists()


def test_a_bot_that_drops_out_leaves_its_place_in_the_middle(study: Study, browser: httpx.Client) -> None:
    crowd = population(study, habits=Habits(declines=0, drops_out=1))
    endings = {send_one(study, crowd, seed=seed, browser=browser) for seed in range(8)}
    assert endings == {Ending.DROPPED_OUT}
    steps = set(Participant.objects.values_list("step", flat=True))
    assert steps <= {"background", "video", "die", "questions"}
    assert len(steps) > 1


def test_a_bot_that_misunderstands_gets_it_right_the_second_time(study: Study, browser: httpx.Client) -> None:
    crowd = population(study, habits=Habits(declines=0, drops_out=0, misunderstands=1))
    assert send_one(study, crowd, seed=1, browser=browser) == Ending.FINISHED
    assert (exact_counts(study).comprehension_failed, exact_counts(study).comprehension_passed) == (1, 0)


def test_a_bot_is_turned_away_from_a_full_study_even_if_it_would_have_declined(study: Study, browser: httpx.Client) -> None:
    for arm in ("slides", "instructor"):
        change_arm(study, arm=arm, actor=study.owner, quota=None, closed=True)
    for habits in (FAITHFUL, Habits(declines=1)):
        assert send_one(study, population(study, habits=habits), seed=1, browser=browser) == Ending.TURNED_AWAY


@pytest.mark.parametrize(
    ("behaviour", "reported"), [(Behaviour.ALWAYS_NO, {False}), (Behaviour.ALWAYS_YES, {True}), (Behaviour.RANDOM, {False, True})]
)
def test_cheaters_answer_as_they_please(study: Study, browser: httpx.Client, behaviour: Behaviour, reported: set[bool]) -> None:
    crowd = population(study, behaviour=behaviour, cheater_proportion=1.0)
    for seed in range(4):
        send_one(study, crowd, seed=seed, browser=browser)
    assert set(Response.objects.values_list("reported_yes", flat=True)) == reported


@pytest.mark.parametrize("questions", [[FREQUENCY], with_frequency()], ids=["alone", "with others"])
def test_questions_with_categories_are_answered_by_their_own_tables(browser: httpx.Client, questions: list[dict[str, Any]]) -> None:
    study = recruiting_study(questions=questions, accepts_bots=True)
    crowd = population(study, behaviour=Behaviour.ALWAYS_YES, cheater_proportion=1.0, habits=replace(FAITHFUL, misunderstands=1.0))
    assert send_one(study, crowd, seed=1, browser=browser) == Ending.FINISHED
    assert list(CategoryResponse.objects.values_list("category", flat=True)) == [2]
    assert Response.objects.filter(reported_yes=True).count() == len(questions) - 1


def shares_of_yes(behaviour: Behaviour, *, prevalence: float, instruction: str, cheaters: float = 1.0) -> set[bool]:
    """Reports of this kind of people in the control arm when their die gives `instruction`."""
    crowd = Population.of(
        definition(),
        prevalence=prevalence,
        effect=0.0,
        cheater_proportion=cheaters,
        behaviour=behaviour,
        background_effect=0.0,
        habits=FAITHFUL,
    )
    rng = np.random.default_rng(5)
    return {crowd.reported(crowd.draw(rng), question="attention", arm="slides", instruction=instruction, rng=rng) for _ in range(60)}


@pytest.mark.parametrize(
    ("behaviour", "cheaters", "instruction", "truth", "reported"),
    [
        (Behaviour.ALWAYS_NO, 0.0, "yes", False, {True}),
        (Behaviour.ALWAYS_NO, 0.0, "no", True, {False}),
        (Behaviour.ALWAYS_NO, 0.0, "truth", True, {True}),
        (Behaviour.ALWAYS_NO, 0.0, "truth", False, {False}),
        (Behaviour.ALWAYS_NO, 1.0, "yes", True, {False}),
        (Behaviour.ALWAYS_YES, 1.0, "no", False, {True}),
        (Behaviour.RANDOM, 1.0, "yes", True, {False, True}),
        (Behaviour.OPPOSITE, 1.0, "truth", True, {False}),
        (Behaviour.OPPOSITE, 1.0, "truth", False, {True}),
        (Behaviour.TRUTHFUL, 1.0, "yes", False, {False}),
        (Behaviour.TRUTHFUL, 1.0, "no", True, {True}),
    ],
)
def test_every_behaviour_does_what_its_name_says(
    behaviour: Behaviour, cheaters: float, instruction: str, truth: bool, reported: set[bool]
) -> None:
    prevalence = 0.999999 if truth else 0.000001
    assert shares_of_yes(behaviour, prevalence=prevalence, instruction=instruction, cheaters=cheaters) == reported


def people(seed: int, **habits: float) -> list[Bot]:
    crowd = Population.of(
        definition(), prevalence=0.4, effect=0.2, cheater_proportion=0.3, behaviour=Behaviour.RANDOM, habits=Habits(**habits)
    )
    return [crowd.draw(rng) for rng in np.random.default_rng(seed).spawn(200)]


def test_the_same_seed_gives_the_same_people_and_another_gives_others() -> None:
    assert people(7) == people(7)
    assert people(7) != people(8)


def test_habits_have_the_shares_asked_for() -> None:
    bots = people(7, declines=0.5, drops_out=0.25, leaves_blank=0.5, misunderstands=0.1)
    # Five standard deviations of a binomial with n = 200.
    assert sum(bot.declines for bot in bots) == pytest.approx(100, abs=36)
    assert sum(bot.drops_out_at is not None for bot in bots) == pytest.approx(50, abs=31)
    assert sum(bot.misunderstands for bot in bots) == pytest.approx(20, abs=22)
    assert sum("gender" in bot.answers for bot in bots) == pytest.approx(100, abs=36)


def test_background_answers_are_within_their_bounds() -> None:
    for bot in people(7, leaves_blank=0.0):
        assert 1 <= int(bot.answers["year"]) <= 8
        assert bot.answers["gender"] in ("woman", "man", "other")
        assert set(bot.answers["devices"]) <= {"phone", "laptop", "room"}
        assert abs(bot.standardised["year"]) < 2


def test_large_whole_numbers_are_written_out() -> None:
    income: dict[str, Any] = {"kind": "number", "name": "n", "text": "N", "role": "auxiliary", "minimum": 1_000_000, "maximum": 9_999_999}
    crowd = Population.of(
        definition(background=[income]), prevalence=0.4, effect=0.0, cheater_proportion=0.0, behaviour=Behaviour.RANDOM, habits=FAITHFUL
    )
    assert crowd.draw(np.random.default_rng(1)).answers["n"].isdigit()


def sent(slug: str = "lecture-videos", **options: Any) -> str:
    out = StringIO()
    call_command("send_bots", slug, stdout=out, **options)
    return out.getvalue()


@pytest.mark.usefixtures("transactional_db")
def test_the_command_sends_a_crowd_and_says_how_it_went(capsys: pytest.CaptureFixture[str]) -> None:
    study = recruiting_study(accepts_bots=True)
    said = sent(n=12, workers=1, seed=5, dropout=0.3, decline=0.2)
    assert said.endswith("(seed 5)\n")
    entry = Entry.objects.get(action="study.bots_sent")
    endings = Counter(entry.details["endings"])
    assert endings.total() == entry.details["n"] == 12
    assert all(f"{ending}: {count}" in said for ending, count in endings.items())
    counts = exact_counts(study)
    assert (counts.finished, counts.declined) == (endings["finished"], endings["declined"])
    assert counts.consented == endings["finished"] + endings["dropped out"]
    assert "Bots" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"slug": "nowhere"}, "There is no study called nowhere."),
        ({"n": 0}, "--n and --workers must be at least 1, got 0 and 4."),
        ({"workers": 0}, "--n and --workers must be at least 1, got 300 and 0."),
        ({"prevalence": 1.5}, "--prevalence must lie between 0 and 1, got 1.5."),
        ({"cheaters": -0.1}, "--cheaters must lie between 0 and 1, got -0.1."),
        ({"dropout": 2}, "--dropout must lie between 0 and 1, got 2."),
        ({"prevalence": 0.9, "effect": 0.5}, "1.4"),
    ],
)
def test_impossible_options_are_refused_before_anybody_is_sent(study: Study, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CommandError) as raised:
        sent(**options)
    assert sentence in str(raised.value)
    assert not Participant.objects.exists()


def test_a_server_that_is_away_ends_the_command_in_one_line_and_stands_in_the_log(study: Study) -> None:
    with socket() as taken:  # nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(CommandError, match=f"expected a running server at {address}, found: .*refused"):
            sent(n=1, url=address, patience=0)
    details = Entry.objects.get(action="study.bots_sent").details
    assert details["stopped"] == "the server is away"
    assert address not in str(details)


@pytest.mark.usefixtures("transactional_db")
def test_bots_enter_by_personal_codes_and_are_refused_without(tmp_path: Path) -> None:
    study = recruiting_study(accepts_bots=True, entry={"kind": "codes"})
    codes, written = ["ABCD-1234", "EFGH-5678", "JKMN-9012"], tmp_path / "codes.txt"
    add_entry_codes(study, codes=codes, actor=study.owner)
    with pytest.raises(CommandError, match="has no open link"):
        sent(n=3)
    for content, said in ((b"ABCD-1234\n", "expected a code for each of 3 bots, found 1"), (b"\xff\xfe", "expected a text file")):
        written.write_bytes(content)
        with pytest.raises(CommandError, match=said):
            sent(n=3, codes=str(written))
    with pytest.raises(CommandError, match="expected a text file"):
        sent(n=3, codes=str(tmp_path / "absent"))
    assert not Entry.objects.filter(action="study.bots_sent").exists()
    written.write_text("\n".join(codes))
    assert sent(n=3, codes=str(written), workers=1, seed=5, dropout=0, decline=0).startswith("finished: 3")
    assert sent(n=3, codes=str(written), workers=1, seed=6, dropout=0, decline=0).startswith("turned away: 3"), "each opens the study once"


def test_a_study_that_does_not_accept_bots_gets_none(db: None) -> None:
    recruiting_study()
    with pytest.raises(CommandError, match="The study lecture-videos does not accept bots"):
        sent(n=1)


@pytest.mark.parametrize("status", ["draft", "approved", "paused", "closed"])
def test_a_study_that_is_not_recruiting_gets_none(db: None, status: Any) -> None:
    study_in(status, accepts_bots=True)
    with pytest.raises(CommandError, match="bots need one that is recruiting"):
        sent(n=1)


def test_a_paused_study_turns_bots_away(study: Study, browser: httpx.Client) -> None:
    studies.pause(study, actor=study.owner)
    assert send_one(study, population(study), seed=1, browser=browser) == Ending.TURNED_AWAY


def test_a_bot_waits_as_long_as_an_absent_server_asks_and_sends_the_same_bytes(
    study: Study, browser: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each form is refused once with 503, also the pages to which redirects lead; nobody is counted twice."""
    waited: list[float] = []
    bodies: dict[str, list[bytes]] = {}
    refused: set[tuple[str, bytes]] = set()
    inside = WSGIHandler()

    def refusing(environ: dict[str, Any], start_response: Any) -> Any:
        body = environ["wsgi.input"].read()
        environ["wsgi.input"] = BytesIO(body)
        request = (environ["REQUEST_METHOD"], body)
        bodies.setdefault(environ["REQUEST_METHOD"], []).append(body)
        if request not in refused:
            refused.add(request)
            start_response("503 Service Unavailable", [("Retry-After", "7")])
            return [b""]
        return inside(environ, start_response)

    monkeypatch.setattr("surveys.bots.walker.time.sleep", waited.append)
    with httpx.Client(transport=httpx.WSGITransport(app=refusing), follow_redirects=True) as client:
        assert send_one(study, population(study), seed=1, browser=client, patience_seconds=60) == Ending.FINISHED
    assert set(waited) == {7.0}
    posts = bodies["POST"]
    assert posts[::2] == posts[1::2], "each form came twice, letter by letter"
    assert len(posts) > 2 * 5
    assert Participant.objects.count() == 1


def test_bots_answer_a_question_that_has_the_name_of_an_input_of_its_page(browser: httpx.Client) -> None:
    asks = {"kind": "number", "name": "step", "text": "How many?", "role": "auxiliary", "minimum": 3, "maximum": 4}
    study = recruiting_study(accepts_bots=True, background=[*document()["background"], asks])
    assert send_one(study, population(study), seed=1, browser=browser) == Ending.FINISHED
    assert Participant.objects.get(study=study).background["step"] in (3, 4)
