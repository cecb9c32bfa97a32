"""A blinded viewer reads everything about a study and cannot learn which arm is which until it is closed."""

import re
from fractions import Fraction
from math import lcm
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role, TokenScope
from accounts.services import issue_token
from analysis import services
from analysis.live.blinding import arm_names
from analysis.live.page import live_view
from surveys.allocation.services import change_arm
from surveys.models import MemberRole, Study, StudyMember
from surveys.studies import services as studies
from tests.audits.test_permissions import own_routes
from tests.audits.who_may_enter import ARGUMENTS
from tests.categories import FREQUENCY
from tests.factories import document, logged_in, page_of, person, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute

pytestmark = pytest.mark.django_db

ARMS = re.compile(r"slides|instructor|with the instructor", re.IGNORECASE)
# They repeat the protocol, for everybody, and contain no findings.
PROTOCOL = {
    "surveys:api_study",
    "analysis:study_plan",
    "surveys:study",
    "surveys:preview",
    "surveys:journey",
    "surveys:consent_copy",
    "surveys:privacy",
    "surveys:api_definition",
    "surveys:api_media",
    "surveys:api_protocol",
    "surveys:protocol",
    "surveys:protocol_version",
    "surveys:protocol_preregistration",
    "surveys:api_preregistration",
    "surveys:protocol_preregistration_version",
    "surveys:protocol_preregistration_file",
}
NAMES = {
    "figure": ("participants", "enrolment", "balance", "forest-attention", "running-attention", "planned-attention", "categories-copying"),
    "table": ("participants", "enrolment", "balance", "sequences", "estimates", "running", "categories"),
}


@pytest.fixture
def study() -> Study:
    """Three in four people are in one arm, and their answers differ much."""
    sample = document()
    slides, instructor = sample["arms"]
    study = recruiting_study(
        arms=[slides, {**instructor, "weight": 3}],
        questions=[sample["questions"][0], FREQUENCY],
        die=TELLING_DIE,
        allocation={"planned_participants": 360},
    )
    add_finished_people(study, 360, cheaters=0.0, prevalence=0.5, effect=0.4)
    compute(study)
    return study


def member(study: Study, role: MemberRole, platform_role: Role = Role.ANALYST) -> Client:
    user = person(platform_role)
    StudyMember.objects.create(study=study, user=user, role=role)
    return logged_in(user)


def answers(study: Study, client: Client, query: str = "", *, at: str | tuple[str, ...] = "") -> dict[str, str]:
    """Every address of the study that answers this person, with each of its figures and tables; addresses and links taken out.

    `at` is how the names of the addresses begin, if not all are asked.
    """
    found = {}
    for name, parameters in own_routes().items():
        if "slug" not in parameters or not name.startswith(at):
            continue
        varied = next((one for one in parameters if one in NAMES), None)
        for value in NAMES[varied] if varied else ("",):
            arguments = {one: value if one in NAMES else {**ARGUMENTS, "slug": study.slug}[one] for one in parameters}
            response = client.get(reverse(name, kwargs=arguments) + query)
            if response.status_code == 200:
                found[f"{name} {value}".strip()] = response.content.decode().replace(study.slug, "")
    return found


def test_no_answer_about_people_or_results_names_an_arm(study: Study) -> None:
    blinded, viewer = member(study, MemberRole.BLINDED_VIEWER), member(study, MemberRole.VIEWER)
    for query in ("", "?blinded=0", "?blinded="):
        seen = answers(study, blinded, query)
        about_results = {name: text for name, text in seen.items() if name not in PROTOCOL}
        assert len(about_results) >= 14, (query, sorted(about_results))
        assert [name for name, text in about_results.items() if ARMS.search(text)] == [], query
        for figure in ("forest", "planned"):
            assert "B minus A" in seen[f"analysis:figure {figure}-attention"]
        for table in ("sequences", "estimates"):
            assert "effect,efficient,B,A" in seen[f"analysis:table {table}"]
        assert "B minus A" in seen["analysis:figure categories-copying"]
        assert "effect_on_category,often,B,A" in seen["analysis:table categories"]
        named = answers(study, viewer, query, at="analysis:figure")
        assert "Slides with the instructor minus Slides only" in named["analysis:figure forest-attention"]


def test_nothing_tells_the_larger_arm(study: Study) -> None:
    """The protocol says which arm is three times as large; the page must not say which letter that is."""
    client = member(study, MemberRole.BLINDED_VIEWER)
    counts = study.participants.values_list("arm", flat=True)
    sizes = {arm: list(counts).count(arm) for arm in ("slides", "instructor")}
    assert sizes["instructor"] > 2 * sizes["slides"]
    shown = r"(?<=[>:,])(\d+)(?=[<,}\s])"
    seen = answers(study, client, at=("analysis:api_counts", "analysis:table", "analysis:figure"))
    for name in ("analysis:api_counts", "analysis:table participants", "analysis:figure participants"):
        groups = {str(n) for n in sizes.values()} | {
            str(study.participants.filter(arm=arm, subsample=subsample).count()) for arm in sizes for subsample in ("1", "2")
        }
        totals = {str(study.participants.filter(subsample=subsample).count()) for subsample in ("1", "2")}
        assert not (groups - totals) & set(re.findall(shown, seen[name])), name
    results = client.get(reverse("analysis:api_results", args=[study.slug])).json()
    outcome, sequence = results["planned_analysis"]["outcomes"][0], results["full_results"]["outcomes"][0]["sequence"]
    assert (outcome["prevalence"], outcome["notes"], outcome["effects"][0]["notes"]) == ([], [], [])
    assert outcome["effects"][0]["value"] is not None
    assert (sequence["prevalence"], sequence["effects"][0]["value"] is None) == ([], False)


def test_no_mean_of_background_answers_tells_the_larger_arm(study: Study) -> None:
    """The attack: a share is a whole number of people divided by the size of its arm, which the fraction tells, as letters do the arms."""
    blinded, viewer = member(study, MemberRole.BLINDED_VIEWER), member(study, MemberRole.VIEWER)
    of_treatment, of_control = divisors_told(viewer, study)
    slides, instructor = (study.participants.filter(arm=arm).count() for arm in ("slides", "instructor"))
    assert (instructor % of_treatment, slides % of_control) == (0, 0)
    assert min(of_treatment, of_control) > 1, "the attack works where there are means"
    assert divisors_told(blinded, study) == []
    table = blinded.get(reverse("analysis:table", args=[study.slug, "balance"])).content.decode()
    assert len(table.splitlines()) == 1
    assert blinded.get(reverse("analysis:figure", args=[study.slug, "balance", "svg"])).status_code == 404


def divisors_told(client: Client, study: Study) -> list[int]:
    """A divisor of the size of each arm, from the shares of one question, which everybody answers or leaves open."""
    balance = client.get(reverse("analysis:api_results", args=[study.slug])).json()["full_results"]["balance"]
    means = [(row["treatment_mean"], row["control_mean"]) for row in balance["differences"] if row["variable"].startswith("gender: ")]
    fractions = ([Fraction(mean).limit_denominator(400).denominator for mean in of_arm] for of_arm in zip(*means, strict=True))
    return [lcm(*denominators) for denominators in fractions]


def test_the_balance_of_arms_of_one_size_is_told_by_letters() -> None:
    study = recruiting_study()
    add_finished_people(study, 48)
    compute(study)
    rows = member(study, MemberRole.BLINDED_VIEWER).get(reverse("analysis:api_results", args=[study.slug])).json()
    assert {(row["treatment"], row["control"]) for row in rows["full_results"]["balance"]["differences"]} == {("B", "A")}


def test_the_text_does_not_depend_on_which_letter_an_arm_has(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the letters exchanged, only signs change: there is nothing else by which A and B could be told apart."""
    client = member(study, MemberRole.BLINDED_VIEWER)
    before = answers(study, client, at=("analysis:api", "analysis:table"))
    swapped = {"A": "B", "B": "A"}

    def exchanged(study: Study, definition: Any, *, blinded: bool, language: str) -> Any:
        names = arm_names(study, definition, blinded=blinded, language=language)
        letters = {arm: swapped[letter] for arm, letter in reversed(list(names.files.items()))} if blinded else names.files
        return (
            names
            if not blinded
            else type(names)(blinded=True, shown=letters, files=letters, control=names.control, of_one_size=names.of_one_size)
        )

    monkeypatch.setattr("analysis.live.page.arm_names", exchanged)
    after = answers(study, client, at=("analysis:api", "analysis:table"))
    numbers = re.compile(r"-?\d+\.\d+")
    for name in before:
        if name.startswith(("analysis:api", "analysis:table")) and "figure" not in name:  # a mirrored drawing has other coordinates
            absolute = [sorted(str(abs(float(one))) for one in numbers.findall(text)) for text in (before[name], after[name])]
            assert absolute[0] == absolute[1], name
    assert before["analysis:table estimates"] != after["analysis:table estimates"]


def test_a_token_is_as_blind_as_its_owner(study: Study) -> None:
    user = person(Role.INVESTIGATOR)
    StudyMember.objects.create(study=study, user=user, role=MemberRole.BLINDED_VIEWER)
    token = issue_token(user=user, name="script", scope=TokenScope.WRITE, days=1)
    client = Client(headers={"Authorization": f"Bearer {token}"})
    for name in ("analysis:api_results", "analysis:api_counts", "analysis:api_runs"):
        response = client.get(reverse(name, args=[study.slug]) + "?blinded=0")
        assert response.status_code == 200
        assert not ARMS.search(response.content.decode()), name


def test_a_blinded_viewer_cannot_unblind_compute_or_change(study: Study) -> None:
    client = member(study, MemberRole.BLINDED_VIEWER)
    services.blind(study, on=True, actor=study.owner)
    assert client.post(reverse("analysis:blinding", args=[study.slug]), {"on": "0"}).status_code == 404
    assert client.post(reverse("analysis:compute", args=[study.slug]), {"action": "start"}).status_code == 404
    page = page_of(client.get(reverse("analysis:results", args=[study.slug])))
    assert page.xpath("//main//form") == []
    assert "Show me the arms" not in page.text_content()


def test_an_administrator_who_was_made_a_blinded_viewer_is_one(study: Study) -> None:
    client = member(study, MemberRole.BLINDED_VIEWER, Role.ADMINISTRATOR)
    assert not ARMS.search(answers(study, client, at="analysis:table")["analysis:table estimates"])
    assert client.post(reverse("analysis:blinding", args=[study.slug]), {"on": "0"}).status_code == 404


def test_when_the_study_is_closed_the_arms_are_shown(study: Study) -> None:
    client = member(study, MemberRole.BLINDED_VIEWER)
    studies.close(study, actor=study.owner)
    assert (
        "Slides with the instructor minus Slides only" in answers(study, client, at="analysis:figure")["analysis:figure forest-attention"]
    )


def test_arms_of_one_size_keep_their_shares_of_yes_until_one_has_a_quota() -> None:
    study = recruiting_study()
    view = live_view(study, reader=study.owner, language="en", ask_blinded=True)
    assert view is not None
    assert view.names.of_one_size
    change_arm(study, arm="slides", actor=study.owner, quota=5)
    view = live_view(study, reader=study.owner, language="en", ask_blinded=True)
    assert view is not None
    assert not view.names.of_one_size


def test_an_arm_that_was_stopped_for_a_while_does_not_give_its_letter_away() -> None:
    """The attack: stop the slides until the numbers of one letter lag behind, take people again, and read which letter has fewer people."""
    study = recruiting_study()
    for closed in (True, False):
        change_arm(study, arm="slides", actor=study.owner, closed=closed)
    view = live_view(study, reader=study.owner, language="en", ask_blinded=True)
    assert view is not None
    assert not view.names.of_one_size
