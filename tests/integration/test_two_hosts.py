"""Two hosts with two workers, PgBouncer and push: each request may go to either, and the promises hold.

No process may know what the others do not know: whatever was shown before, what is no longer true is neither shown nor taken.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.attempts import take_attempt
from accounts.login.backends import ATTEMPTS, LOGIN
from accounts.models import Role, User
from accounts.names import folded
from analysis import services as analysis
from analysis.models import Run, RunStatus
from surveys.models import MediaFile, Participant, Step, Study
from surveys.tokens import withdrawal_code
from tests.audits.test_differencing import ALL_ANSWERS, TELLING_DIE, Auditor, withdrawn
from tests.audits.test_permissions import people, shared
from tests.categories import PROBATION, with_frequency
from tests.factories import (
    LECTURES,
    PASSWORD,
    address_of,
    answer,
    code_on,
    document,
    draft_study,
    heading,
    hidden_value,
    participant_of,
    person,
    recruiting_study,
    token_of,
    walk,
)
from tests.finished_people import add_finished_people
from tests.integration.test_builder import inputs
from tests.integration.test_own_languages import with_turkish
from tests.language_files import file_of_words
from tests.linkage.attack import findings
from tests.linkage.courses import within_batches
from tests.linkage.hosts import Intruder
from tests.linkage.journeys import LEAVE, PEOPLE, study_of, walk_everybody
from tests.processes import Site
from tests.simultaneous import at_once
from tests.two_hosts import Hosts, Observer, browser, messages_to, running_instead, two_hosts

fixtures = (people,)
A_FEW = 40


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: Any, built_site: Site) -> Iterator[Hosts]:
    """Both hosts. Their sweep may write between the end of the last test and theirs."""
    with two_hosts(tmp_path_factory.mktemp("hosts"), like=built_site) as both:
        yield both
    with django_db_blocker.unblock():
        call_command("flush", interactive=False, verbosity=0)


@pytest.fixture
def hosts(postgresql: None, both: Hosts) -> Iterator[Hosts]:
    """Both hosts, for one test. They work for nobody once it is over."""
    with messages_to(both):
        yield both
        both.settle()


def test_every_step_may_go_to_another_host(hosts: Hosts) -> None:
    study = recruiting_study()
    client = browser(hosts)
    walk(client, study, until="questions")
    tabs = [browser(hosts, host) for host in (0, 1)]
    for tab in tabs:
        tab.cookies = deepcopy(client.cookies)
    answers = at_once(*(partial(answer, tab, study, "questions") for tab in tabs))
    assert {one.status_code for one in answers} == {303}
    person = participant_of(client)
    assert (person.step, person.responses.count()) == (Step.FINISHED, 4)
    shown = [client.get(address_of(study)) for _host in hosts.sites]
    code = withdrawal_code(token_of(client))
    assert code_on(shown[0], "withdrawal") == code
    assert client.post(withdrawal_of(study), {"code": code}).status_code == 200
    assert client.post(withdrawal_of(study), {"code": code, "stage": "confirm"}).status_code == 200
    assert len({heading(tab.get(address_of(study))) for tab in tabs}) == 1
    for tab in tabs:
        assert heading(tab.post(withdrawal_of(study), {"code": code})) == "Your data are gone"
    assert not Participant.objects.filter(study=study).exists()


def withdrawal_of(study: Study) -> str:
    return reverse("surveys:withdraw", args=[study.slug])


def test_what_is_no_longer_true_is_shown_and_taken_nowhere(hosts: Hosts) -> None:
    """Each act goes to the host whose turn it is; both hosts have shown before what it changes."""
    study, officer = recruiting_study(), person(Role.IRB_OFFICER)
    act = Acts(study, {"owner": browser(hosts), "officer": browser(hosts)})
    act.clients["owner"].force_login(study.owner)
    act.clients["officer"].force_login(officer)
    hosts_own = [browser(hosts, host) for host in (0, 1)]

    def headings() -> set[str]:
        return {heading(browser(hosts, host).get(address_of(study))) for host in (0, 1)}

    assert headings() == {study.title}
    consenting = [browser(hosts, host) for host in (0, 1)]
    for client in consenting:
        walk(client, study, until="consent")
    act("owner", "amend", definition={"title": "Lectures, amended"})
    assert headings() == {"This study is taking a break"}, "nobody has approved it yet"
    act("officer", "approve", reason="It only has another name.")
    act("owner", "resume")
    assert headings() == {"Lectures, amended"}
    for client in consenting:  # they read the old text, so that they get the new one to read
        assert answer(client, study, "consent", version="1").status_code == 409
        assert participants(study) == 0
    act("officer", "suspend", reason="Somebody complained.")
    assert headings() == {"This study is taking a break"}
    for client in consenting:
        assert answer(client, study, "consent", version="2").status_code == 403
    act("officer", "lift", reason="It was a mistake.")
    act("owner", "resume")
    assert headings() == {"Lectures, amended"}
    for client in hosts_own:
        walk(client, study, until="quiz")
    gone = hosts_own[0]
    code = withdrawal_code(token_of(gone))
    gone.post(withdrawal_of(study), {"code": code, "stage": "confirm"})
    elsewhere = browser(hosts, 1)
    elsewhere.cookies["candor_participant"] = token_of(gone)
    assert answer(elsewhere, study, "quiz").status_code in (303, 403)
    assert participants(study) == 1
    act("owner", "close")
    assert headings() == {"This study has ended"}
    for client in hosts_own:
        answer(client, study, "quiz")
    assert set(Participant.objects.filter(study=study).values_list("step", flat=True)) == {Step.QUIZ}


def participants(study: Study) -> int:
    return Participant.objects.filter(study=study).count()


class Acts:
    """Steps of a study's life by the API, at whichever host's turn it is."""

    def __init__(self, study: Study, clients: dict[str, Client]) -> None:
        self.at, self.clients = f"/api/v1/studies/{study.slug}", clients

    def __call__(self, who: str, action: str, *, definition: Any = None, **data: str) -> None:
        client = self.clients[who]
        if definition is not None:
            seen = client.get(f"{self.at}/definition/")["ETag"]
            self._send(client.patch, "definition/", definition, HTTP_IF_MATCH=seen)
        self._send(client.post, f"actions/{action}/", data)

    def _send(self, method: Any, path: str, data: Any, **headers: str) -> None:
        answered = method(f"{self.at}/{path}", json.dumps(data), content_type="application/json", **headers)
        assert answered.status_code == 200, answered.content.decode()[:1000]


def test_staff_go_on_at_whichever_host(hosts: Hosts) -> None:
    owner = person(Role.INVESTIGATOR)
    User.objects.filter(pk=owner.pk).update(password=PBKDF2PasswordHasher().encode(PASSWORD, "salt", 1000))
    study = draft_study(owner=owner)
    client = browser(hosts)
    login, page = reverse("account_login"), reverse("surveys:build_about", args=[study.slug])
    form = {"login": owner.username, "password": PASSWORD, "csrfmiddlewaretoken": hidden_value(client.get(login), "csrfmiddlewaretoken")}
    assert client.post(login, form).status_code == 302
    everywhere = [browser(hosts, host) for host in (0, 1)]
    for one in everywhere:
        one.cookies = deepcopy(client.cookies)
        assert one.get(page).status_code == 200
    one, other = everywhere
    # A page that one host has shown is saved at the other one, and both preview it.
    assert other.post(page, inputs(one.get(page)) | {"title.en": "Lectures at two hosts"}).status_code == 302
    preview = f"{reverse('surveys:preview', args=[study.slug])}?step=welcome"
    assert {heading(each.get(preview)) for each in everywhere} == {"Lectures at two hosts"}
    # A file that one host has taken comes from the other one.
    MediaFile.objects.filter(study=study, name="captions-en.vtt").delete()
    captions = (LECTURES / "captions-en.vtt").read_bytes()
    upload = SimpleUploadedFile("captions-en.vtt", captions)
    assert one.post(f"/api/v1/studies/{study.slug}/media/", {"file": upload}).status_code == 201
    file = MediaFile.objects.get(study=study, name="captions-en.vtt", current=True)
    address = reverse("surveys:preview_media", args=[study.slug, file.pk])
    assert {each.get(address).content for each in everywhere} == {captions}
    # A logout at one host is one at the other, too.
    one.post(reverse("account_logout"))
    assert [each.get(page).status_code for each in everywhere] == [302, 302]
    for _attempt in range(ATTEMPTS - 1):
        take_attempt(LOGIN, f"{folded(owner.username)} ", at_most=ATTEMPTS)
    refused = [browser(hosts, host).post(login, {**form, "password": "wrong", "csrfmiddlewaretoken": ""}) for host in (0, 1)]
    assert ["Too many" in each.content.decode() for each in refused] == [False, True], "both count together"


def test_a_language_of_a_study_is_spoken_by_both_hosts(hosts: Hosts) -> None:
    study = draft_study(**{**with_turkish(document()), "languages": ["en", "tr"], "slug": "in-tr"})
    owner = browser(hosts, 0)
    owner.force_login(study.owner)
    words = SimpleUploadedFile("words.po", file_of_words("TR", Language="tr").encode())
    assert owner.post(reverse("surveys:build_languages", args=[study.slug]), {"file": words}).status_code == 302
    officer = browser(hosts, 1)
    officer.force_login(person(Role.IRB_OFFICER))
    act = Acts(study, {"owner": owner, "officer": officer})
    act("owner", "submit")
    act("officer", "approve", reason="The die is the usual one.")
    act("owner", "launch")
    pages = [browser(hosts, host).get(address_of(study), {"language": "tr"}).content.decode() for host in (0, 1)]
    assert all("TR Start" in page for page in pages)


def test_nothing_on_two_hosts_leads_from_panel_numbers_to_answers(hosts: Hosts) -> None:
    study = study_of("prolific")
    with Observer(hosts, study) as observer:
        intruder = Intruder(hosts=hosts, observer=observer)
        before = hosts.logs()
        truth = walk_everybody(study, seed=1, codes=False, somebody=intruder.somebody)
        hosts.settle()
        assert len(truth) == PEOPLE - LEAVE
        added = {place: lines[len(before[place]) :] for place, lines in hosts.logs().items() if lines != before[place]}
        assert added == {}, "a log tells that somebody came"
        assert observer.said, "a batch was complete"
        assert {f"Redis, {key}" for key in hosts.in_redis()} & set(intruder.places())
        hosts.does("order_of_arrival")
        found = {"after an hour": within_batches(intruder.copy(), truth)}
        hosts.does("order_of_days")
        found["after a night"] = findings(intruder.copy(), truth)
    assert found == {"after an hour": [], "after a night": []}


def test_a_version_for_each_finisher_is_caught(hosts: Hosts) -> None:
    """A control. The fuzzer names people, and the stream moves between two of them."""
    study = study_of("prolific")
    with running_instead(hosts.sites[0], "tests.linkage.leaking:application"), Observer(hosts, study) as observer:
        intruder = Intruder(hosts=hosts, observer=observer)
        truth = walk_everybody(study, seed=1, codes=False, people=A_FEW, somebody=intruder.somebody)
        hosts.settle()
        hosts.does("order_of_arrival")
        hosts.does("order_of_days")
        found = findings(intruder.copy(), truth)
    assert len(observer.said) > A_FEW / 4, "without the leak there is one version for each batch; a busy machine joins several"
    assert [attack for attack in found if "push.version = surveys_participant.id" in attack], found


def test_between_two_people_nothing_moves_on_either_host_and_push_is_silent(hosts: Hosts, people: dict[str, User]) -> None:
    questions = [*with_frequency()[:2], with_frequency()[-1], PROBATION]
    allocation = {"planned_participants": 480, "block_multiples": [1]}
    made = recruiting_study(owner=people["owner"], allocation=allocation, die=TELLING_DIE, questions=questions)
    study = shared(made, people)
    auditor = Auditor(study, people, readers=("nobody", "owner", "blinded"))
    one, other = partial(browser, hosts, 0), partial(browser, hosts, 1)
    come(hosts, study, 130, seed=1)
    hosts.does("log_head")
    batch = auditor.poll(browser=one)
    assert auditor.differences(batch, auditor.poll(browser=other)) == [], "both hosts say the same"
    with Observer(hosts, study) as observer:
        for act in (declines, leaves_in_the_middle, finishes):
            act(browser(hosts), study)
            computed(hosts)
        withdrawn(study, counted=False)
        computed(hosts)
        assert auditor.differences(batch, auditor.poll(browser=other)) == []
        assert observer.said == []
        come(hosts, study, 90, seed=2)
        second = auditor.poll(browser=one)
        assert auditor.differences(batch, second) != []
        told = auditor.small_steps(batch, second)
        news = list(observer.said)
        assert len({version for version, _at in news}) == len(news) > 0
        withdrawn(study, counted=True)
        computed(hosts)
        assert observer.said == news, "the moment of a withdrawal is a person's"
    assert told == []


def come(hosts: Hosts, study: Study, people: int, *, seed: int) -> None:
    add_finished_people(study, people, seed=seed, counted=False, unfinished=0.1)
    analysis.refresh_when_answers_change(Study, study_id=study.pk)
    computed(hosts)
    assert Run.objects.filter(study=study, status=RunStatus.DONE, n__gt=0).exists(), "there are numbers to follow"


def computed(hosts: Hosts) -> None:
    hosts.settle()
    hosts.does("shown_numbers")


def declines(client: Client, study: Study) -> None:
    walk(client, study, until="consent")
    assert client.post(f"/s/{study.slug}/", {"step": "consent", "choice": "decline"}).status_code in (200, 303)


def leaves_in_the_middle(client: Client, study: Study) -> None:
    walk(client, study, until="quiz")


def finishes(client: Client, study: Study) -> None:
    walk(client, study, answers=ALL_ANSWERS)
