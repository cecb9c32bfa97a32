"""One more person does something, whatever it is: nothing that anybody can get of the installation tells it.

`test_differencing.py` follows the numbers from batch to batch; here everything has to stay as it is, to the byte.
"""

from collections.abc import Callable

import pytest
from django.test import Client

from accounts.models import User
from analysis import services as analysis
from jobs.errors import TakenError
from jobs.models import Routine
from jobs.registry import JOBS
from surveys.allocation.services import change_arm
from surveys.credit.services import change_credit
from surveys.models import Study
from surveys.recruitment import selectors as recruitment
from surveys.recruitment.services import add_entry_codes
from surveys.studies import services as studies
from surveys.tokens import withdrawal_code
from tests.audits.test_differencing import ALL_ANSWERS, come, computed
from tests.audits.test_differencing import sent as sent
from tests.audits.test_permissions import people as people
from tests.audits.test_permissions import shared
from tests.categories import PROBATION, with_frequency
from tests.course_students import hand_in, launch, signed_token
from tests.course_students import platform as platform
from tests.factories import address_of, answer, hidden_value, recruiting_study, token_of, walk
from tests.finished_people import TELLING_DIE
from tests.integration.test_ways_in import PROLIFIC, WAYS
from tests.lti_platform import CoursePlatform
from tests.surfaces import Surfaces, moved
from webhooks.models import Delivery, DeliveryStatus, Event
from webhooks.services import add_webhook

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent", "mail_server")]
POSTER, LETTERS = {"way": "poster"}, {"way": "letters"}
CODE, OTHER_CODE = "ABCD-1234", "EFGH-5678"
QUIET = "The first looks differ by themselves, so the next ones would tell nothing."


@pytest.fixture
def study(people: dict[str, User], platform: CoursePlatform) -> Study:
    """A study with all that follows people: ways in, codes, panels, credit, messages to programs, letters to staff."""
    for name, one in people.items():
        User.objects.filter(pk=one.pk).update(email=f"{name}@example.org")
    questions = [*with_frequency()[:3], with_frequency()[-1], PROBATION]
    allocation = {"planned_participants": 480, "block_multiples": [1]}
    made = recruiting_study(owner=people["owner"], allocation=allocation, die=TELLING_DIE, questions=questions, entry={"ways": WAYS})
    add_entry_codes(made, codes=[CODE, OTHER_CODE], actor=made.owner)
    change_credit(made, is_on=True, for_everybody=True, actor=made.owner)
    add_webhook(made, address="https://lab.example.org/", events=list(Event), site="https://candor.example.org", actor=made.owner)
    come(shared(made, people), 130, seed=1)
    settled(made)
    return made


def settled(study: Study) -> None:
    """As after a night, in which all that comes back at intervals was done, and all messages arrived."""
    for kind, job in JOBS.items():
        if job.model is Routine:
            try:
                job.do(Routine(pk=kind))
            except TakenError:  # it notes its place in a row that a worker holds
                assert kind == "order_of_days"
    computed(study)
    Delivery.objects.filter(status=DeliveryStatus.WAITING).update(status=DeliveryStatus.DELIVERED, due_at=None)


def goes(study: Study, query: dict[str, str], *, until: str = "finished", client: Client | None = None, **typed: str) -> tuple[Client, str]:
    """Somebody who comes by this address and walks so far; their browser, and the ticket of the last page."""
    client = client or Client()
    client.get(address_of(study), query)
    page = walk(client, study, until=until, answers={**ALL_ANSWERS, "welcome": {"language": "en", **query, **typed}})
    return client, hidden_value(page, "ticket") if until == "finished" and query == POSTER else ""


def opens_the_pages(study: Study) -> None:
    for query in ({}, POSTER, LETTERS, PROLIFIC, {"way": "unknown"}):
        Client().get(address_of(study), query)


def tries_codes(study: Study) -> None:
    for number in range(3):
        assert answer(Client(), study, "welcome", **LETTERS, code=f"WRONG{number:04}").status_code == 403


def spends_a_code_that_is_tried_again(study: Study) -> None:
    goes(study, LETTERS, code=CODE)
    assert answer(Client(), study, "welcome", **LETTERS, code=CODE).status_code == 403


def comes_twice_from_a_panel(study: Study) -> None:
    goes(study, PROLIFIC)
    assert answer(Client(), study, "welcome", **PROLIFIC).status_code == 403


def declines(study: Study) -> None:
    client = Client()
    arrives = {"way": "psychology", "survey_code": "17"}
    assert answer(client, study, "welcome", **arrives).status_code == 303
    assert answer(client, study, "consent", choice="decline").status_code == 200


def goes_away_and_comes_back_elsewhere(study: Study) -> None:
    client, _ticket = goes(study, POSTER, until="quiz")
    other = Client()
    assert other.post(f"{address_of(study)}resume/{token_of(client)}/").status_code == 303
    answer(other, study, "quiz")


def takes_their_data_out(study: Study) -> None:
    client, _ticket = goes(study, POSTER, until="quiz")
    withdraws(study, withdrawal_code(token_of(client)))


def withdraws(study: Study, code: str) -> None:
    page = Client().post(f"{address_of(study)}withdraw/", {"code": code, "stage": "confirm"})
    assert page.status_code == 200


def takes_credit_to_a_course(study: Study, platform: CoursePlatform) -> None:
    client = Client()
    launch(client, platform, study, sub="ada")
    _client, ticket = goes(study, POSTER, client=client)
    assert hand_in(client, study, credit=signed_token(client, study, ticket)).status_code == 303


ALONE: tuple[Callable[[Study], None], ...] = (
    opens_the_pages,
    tries_codes,
    spends_a_code_that_is_tried_again,
    comes_twice_from_a_panel,
    declines,
    goes_away_and_comes_back_elsewhere,
    takes_their_data_out,
)


def test_nothing_tells_what_one_person_does_while_the_study_runs(study: Study, people: dict[str, User], platform: CoursePlatform) -> None:
    surfaces = Surfaces(people, slug=[study.slug])
    before = surfaces.look()
    assert sum(seen.startswith("200") for seen in before.values()) > 500
    for act in ALONE:
        act(study)
        computed(study)
    takes_credit_to_a_course(study, platform)
    computed(study)
    assert moved(before, surfaces.look()) == []
    settled(study)
    assert moved(before, surfaces.look()) == [], "after a night"


def test_nothing_tells_what_one_person_does_after_the_end(study: Study, people: dict[str, User], platform: CoursePlatform) -> None:
    """Their credit, their page that was left open, a code that was kept for later, and a page of the end that is asked for again."""
    (client, ticket), (half, _none) = goes(study, POSTER), goes(study, POSTER, until="quiz")
    studies.close(Study.objects.get(pk=study.pk), actor=study.owner)
    study.refresh_from_db()
    analysis.refresh_when_everyone_is_counted(Study, study_id=study.pk)
    settled(study)
    surfaces = Surfaces(people, slug=[study.slug])
    before = surfaces.look()
    launch(client, platform, study, sub="ada")
    assert hand_in(client, study, credit=signed_token(client, study, ticket)).status_code == 303
    assert answer(half, study, "quiz").status_code == 403
    assert answer(Client(), study, "welcome", **LETTERS, code=OTHER_CODE).status_code == 403
    Client().get(address_of(study), PROLIFIC)
    settled(study)
    assert moved(before, surfaces.look()) == []


def test_nothing_tells_that_somebody_found_no_room(study: Study, people: dict[str, User]) -> None:
    """Staff stop the arms; then one person after another is sent away: at the door, and on the way to a group."""
    client, _ticket = goes(study, LETTERS, until="background", code=CODE)
    for arm in ("slides", "instructor"):
        change_arm(study, arm=arm, actor=study.owner, closed=True)
    settled(study)
    surfaces = Surfaces(people, readers=("nobody", "owner", "officer", "administrator"), slug=[study.slug])
    before = surfaces.look()
    assert "full" in answer(client, study, "background").content.decode()
    assert "full" in answer(Client(), study, "welcome", **POSTER).content.decode()
    settled(study)
    assert moved(before, surfaces.look()) == []


def test_an_exact_count_of_tries_and_codes_is_noticed(study: Study, people: dict[str, User], monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of codes once told how many tries were refused, one by one."""
    monkeypatch.setattr(recruitment, "_as_shown", lambda people, _study: people)
    surfaces = Surfaces(people, readers=("nobody", "owner"), slug=[study.slug])
    before = surfaces.look()
    assert moved(before, surfaces.look()) == [], QUIET
    tries_codes(study)
    found = moved(before, surfaces.look())
    assert {line.partition(": ")[0] for line in found} == {"GET surveys:codes as owner"}
