"""Releases of studies with a privacy budget: statistics with noise and the ledger, and exact counts only after a reason."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.test import Client
from django.urls import reverse
from lxml import html

from accounts.models import Role
from accounts.services import change_role
from analysis import actions
from analysis.ledger.services import ask, freeze
from analysis.models import Release, Source
from analysis.packages.errors import ReleaseError
from analysis.releases import services
from analysis.releases.selectors import steps_open_to
from audit.services import record
from candor.cli import main
from candor.packages.archive import PUBLIC_KEY, SIGNATURE, SUMS, files_in, signed, zip_of
from candor.packages.verification import faults_of
from surveys.models import MemberRole, Participant, Study, StudyMember
from tests.factories import logged_in, person
from tests.jobs import work_on
from tests.ledgers import make_snapshot, study_with_budget
from tests.releases import CHOICES, built_release, closed_study, published_release, requested_release, started_release

pytestmark = pytest.mark.django_db
REASON = "The journal asks for exact sizes of the groups."


def asked_study(**changes: Any) -> Study:
    """A study in which one question was asked under the budget, and answered."""
    study = study_with_budget(epsilon=10, delta=1e-4, **changes)
    source = Source.objects.get(study=study)
    make_snapshot(source)
    work_on(ask(source, {"kind": "difficulties", "rho": 2.0}, actor=study.owner).charge.asking)
    return study


def files_of(release: Release) -> dict[str, bytes]:
    assert release.package is not None
    return files_in(bytes(release.package))


def test_the_package_holds_what_was_asked_with_its_answers_and_the_ledger() -> None:
    study = asked_study(subgroups=["gender"])
    withheld = {"kind": "histogram", "by": [{"column": "arm"}, {"column": "answer.comprehension"}], "epsilon": 1}
    exact = ask(Source.objects.get(study=study), {"kind": "statistic", "question": withheld}, actor=study.owner).charge
    work_on(exact.asking)
    release = built_release(study, background="noisy_counts", questions=("attention",))
    files = files_of(release)
    assert faults_of(bytes(release.package or b"")) == []
    assert "background-counts.csv" not in files
    document = json.loads(files["analytics.json"])
    charge, free = document["charges"]
    assert (exact.is_free, free["state"], free["answer"]) == (True, "answered", None), (
        "its ε is in no sum, nor is it noise that protects it"
    )
    assert (charge["question"]["kind"], charge["state"]) == ("difficulties", "answered")
    assert {item["item"] for item in charge["answer"]["items"]} == {"groups", "control"}
    assert document["budget"]["epsilon"] == 10
    assert 0 < document["spent"]["epsilon"] <= 10
    assert study.owner.username not in files["analytics.json"].decode()
    assert not {"asked_by", "asked_on"} & {*charge, *free}
    statement = files["README.md"].decode()
    assert "The statistics in analytics.json are not protected by the die but by noise." in statement
    assert "ε = 10, δ = 0.0001. It does not cover what the study shows exactly: How many people took part" in statement
    assert "Effects by the answers to “What is your gender?”, and how" in statement
    page = logged_in(study.owner).get(reverse("analysis:releases_one", args=[study.slug, release.pk]), headers={"Accept-Language": "de"})
    assert "Wirkungen nach den Antworten auf „What is your gender?“, und wie" in page.content.decode()
    assert "Statistics of background and quiz answers, with noise" in files["codebook.md"].decode()


def test_a_frozen_budget_is_released_without_the_words_of_the_officer() -> None:
    """They wrote to the team, and nobody told them that everybody would read it, nor how often they stopped and looked again."""
    study, reason = asked_study(), "Somebody asks about one student again and again."
    freeze(study.source, reason=reason, actor=person(Role.IRB_OFFICER))
    release = built_release(study, background="noisy_counts")
    assert faults_of(bytes(release.package or b"")) == []
    document = json.loads(files_of(release)["analytics.json"])
    assert document["budget"].keys() == {"epsilon", "delta", "rho"}
    assert (document["budget"]["epsilon"], len(document["charges"])) == (10, 1)
    assert not [name for name, content in files_of(release).items() if reason in content.decode(errors="replace")]


@pytest.mark.parametrize("restored", [False, True])
def test_an_analyst_who_becomes_an_officer_does_not_decide_about_a_release_of_their_own_answers(
    restored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack: somebody asks, leaves the study, is made an officer and publishes what came of it, or refuses what they do not like.
    After a restore the charge is made again, and the log does not tell who asked.
    """
    if restored:
        monkeypatch.setattr("analysis.ledger.services.record", lambda **_entry: None)
    study, analyst = study_with_budget(epsilon=10, delta=1e-4), person(Role.ANALYST)
    part = StudyMember.objects.create(study=study, user=analyst, role=MemberRole.ANALYST)
    source = Source.objects.get(study=study)
    make_snapshot(source)
    work_on(ask(source, {"kind": "difficulties", "rho": 2.0}, actor=analyst).charge.asking)
    release = requested_release(study, background="noisy_counts")
    part.delete()
    officer = change_role(user=analyst, role=Role.IRB_OFFICER)
    for decide in (services.approve, partial(services.refuse, reason="Not as I had hoped.")):
        with pytest.raises(ReleaseError, match="Only an IRB officer who has no part in the study"):
            decide(release, actor=officer)
    assert steps_open_to(officer, release) == set()
    assert services.approve(release, actor=person(Role.IRB_OFFICER))


def test_an_editor_of_hierarchies_who_becomes_an_officer_does_not_decide_about_the_records() -> None:
    study, editor = closed_study(), person(Role.INVESTIGATOR)
    record(actor=editor, action=actions.HIERARCHY_CHANGED, subject=study, details={"attribute": "term", "suggested": False})
    release, officer = requested_release(study), change_role(user=editor, role=Role.IRB_OFFICER)
    with pytest.raises(ReleaseError, match="Only an IRB officer who has no part in the study"):
        services.approve(release, actor=officer)


def test_the_public_page_shows_what_was_released_with_its_ledger_and_what_no_noise_hides() -> None:
    study = asked_study()
    source = Source.objects.get(study=study)
    question = {"kind": "histogram", "by": [{"column": "background.gender"}], "epsilon": 0.3}
    work_on(ask(source, {"kind": "statistic", "question": question}, actor=study.owner).charge.asking)
    release = published_release(study, background="noisy_counts")
    waiting = ask(source, {"kind": "statistic", "question": question | {"epsilon": 0.25}}, actor=study.owner).charge
    public = html.fromstring(Client().get(reverse("analysis:public_release", args=[study.slug, release.version])).content)
    (shown,) = public.xpath('//section[@aria-labelledby="statistics"]')
    said = " ".join(shown.text_content().split())
    charges = json.loads(files_of(release)["analytics.json"])["charges"]
    items = {item["text"]["en"]: item for item in charges[0]["answer"]["items"]}
    rows = [[" ".join(cell.text_content().split()) for cell in row.xpath("./th|./td")] for row in shown.xpath(".//tbody/tr")]
    for text, item in items.items():
        value, low, high = (f"{item[name]:z.2f}".replace("-", "−") for name in ("difficulty", "low", "high"))
        assert [text, value, f"{low} … {high}"] in rows
    assert len(shown.xpath(".//figure//div[@class='wide']//*[local-name()='circle']")) == len(items)
    for cell in charges[1]["answer"]["cells"]:
        label = {"woman": "Woman", "man": "Man"}.get(cell["labels"][0])
        assert label is None or [label, f"{cell['value']:.0f}", f"{cell['low']:.0f} – {cell['high']:.0f}"] in rows
    ledger = [row for row in rows if row[-1] in ("Answered", "Reserved")]
    assert [row[0] for row in ledger] == ["1", "2"], f"charge {waiting.number} came after the release"
    assert "differentially private, of a budget of ε = 10:" in said
    assert "The answers to the sensitive questions, with the group. The die protects them." in said
    assert study.owner.username not in said
    without = published_release(study, background="left_out")
    plain = Client().get(reverse("analysis:public_release", args=[study.slug, without.version]))
    assert (plain.status_code, b"Statistics with noise" in plain.content) == (200, False)


def test_anybody_computes_the_difficulties_again_and_finds_a_number_that_was_changed(tmp_path: Path) -> None:
    """As far as the signature is checked, `candor verify` says the same; a forger who signs anew is found by the numbers alone."""
    files = files_of(built_release(asked_study(), background="noisy_counts"))
    document = json.loads(files["analytics.json"])
    (charge,) = document["charges"]
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    replicated = CliRunner().invoke(main, ["replicate", str(tmp_path)])
    assert (replicated.exit_code, CliRunner().invoke(main, ["verify", str(tmp_path)]).exit_code) == (0, 0), replicated.output
    assert re.search(r"^\(difficulties, charge 1\) +\d+ +0$", replicated.output, re.MULTILINE)
    assert "Every number is the same." in replicated.output

    item, totals, spent = charge["answer"]["items"][0], charge["answer"]["noisy_counts"]["totals"], document["spent"]
    changes = (
        ("(difficulties, charge 1).items.0.difficulty", item, "difficulty", item["difficulty"] + 2e-6),
        ("(difficulties, charge 1).items.0.low", item, "low", item["low"] - 2e-6),
        ("(difficulties, charge 1).items.0.difficulty", totals, 0, totals[0] + 7),
        ("(privacy budget).epsilon", spent, "epsilon", spent["epsilon"] / 2),
    )
    for place, part, name, forged in changes:
        true, part[name] = part[name], forged
        (tmp_path / "analytics.json").write_text(json.dumps(document))
        part[name] = true
        replicated, verified = (CliRunner().invoke(main, [command, str(tmp_path)]) for command in ("replicate", "verify"))
        assert (replicated.exit_code, verified.exit_code) == (1, 1)
        assert f"  {place}: published" in replicated.output
        assert "analytics.json: it was changed" in replicated.output + verified.output

    item["difficulty"] += 0.01
    unsigned = {name: content for name, content in files.items() if name not in (PUBLIC_KEY, SIGNATURE, SUMS)}
    forged = tmp_path / "forged.zip"
    forged.write_bytes(zip_of(signed(unsigned | {"analytics.json": json.dumps(document).encode()}, Ed25519PrivateKey.generate())))
    replicated, verified = (CliRunner().invoke(main, [command, str(forged)]) for command in ("replicate", "verify"))
    assert (replicated.exit_code, verified.exit_code) == (1, 0), replicated.output


def test_exact_counts_need_a_reason_which_the_package_and_the_pages_repeat() -> None:
    study = asked_study()
    client, address = logged_in(study.owner), reverse("analysis:releases", args=[study.slug])
    form = html.fromstring(client.get(address).content)
    assert form.xpath('//input[@name="background"][@checked]/@value') == ["noisy_counts"], "what was asked is the usual choice"
    typed: dict[str, Any] = {"data": "people", "questions": list(CHOICES.questions), "background": "counts", "smallest_count": "5"}
    typed |= {"title": "Data", "authors": "Lovelace, Ada", "licence": "CC-BY-4.0"}
    refused = client.post(address, typed)
    assert refused.status_code == 422
    assert "Write why they must be exact; the publication repeats it." in refused.content.decode()
    with pytest.raises(ReleaseError, match="Write why they must be exact"):
        built_release(study, background="counts")
    assert client.post(address, typed | {"reason_for_exact_counts": REASON}).status_code == 302
    release = Release.objects.get()
    work_on(release)
    release.refresh_from_db()
    statement = files_of(release)["README.md"].decode()
    assert f"outside of the study's privacy budget. The reason: {REASON}" in statement
    assert f"Counts or records of background answers in a data package. The reason: {REASON}" in statement
    page = client.get(reverse("analysis:releases_one", args=[study.slug, release.pk])).content.decode()
    assert REASON in page


def test_protected_records_need_a_reason_too_because_no_noise_is_in_them() -> None:
    study = study_with_budget(epsilon=10, delta=1e-4)
    with pytest.raises(ReleaseError, match="Write why"):
        started_release(study, background="records")
    release = built_release(study, background="records", reason_for_exact_counts=REASON)
    statement = files_of(release)["README.md"].decode()
    assert f"Records of background answers are in this release, outside of the study's privacy budget. The reason: {REASON}" in statement


def test_the_reason_for_a_package_stands_beside_every_guarantee_as_soon_as_its_counts_can_be_seen() -> None:
    """Those who run the study and officers look at a package before it is public; that it is discarded afterwards takes nothing back."""
    study = asked_study()
    release = started_release(study, background="counts", reason_for_exact_counts=REASON)
    client, address = logged_in(study.owner), reverse("analysis:analytics", args=[study.slug])
    assert REASON not in client.get(address).content.decode(), "nobody can read these counts yet"
    work_on(release)
    assert REASON in client.get(address).content.decode()
    services.discard(release, actor=study.owner)
    assert REASON in client.get(address).content.decode()


def test_analysts_learn_that_exact_counts_were_made_and_read_the_reason_only_once_it_is_public() -> None:
    """They see no release. One that was discarded or refused must not be told by the page that says what no noise hides."""
    study = asked_study()
    analyst = person(Role.ANALYST)
    StudyMember.objects.create(study=study, user=analyst, role=MemberRole.ANALYST)
    places = [reverse(f"analysis:{name}", args=[study.slug]) for name in ("analytics", "analytics_networks", "analytics_questions")]

    def told(client: Client) -> list[tuple[bool, bool]]:
        pages = [client.get(place).content.decode() for place in places]
        return [(REASON in page, "in a data package that is not public" in page) for page in pages]

    seen = logged_in(analyst)
    assert told(seen)[0] == (False, False)
    release = built_release(study, background="counts", reason_for_exact_counts=REASON)
    assert told(seen)[0] == (False, True)
    services.discard(release, actor=study.owner)
    assert told(seen)[0] == (False, True)
    assert not any(reason for reason, _hint in told(seen))
    assert told(logged_in(study.owner))[0] == (True, False)
    published_release(study, background="counts", reason_for_exact_counts=REASON)
    assert told(seen)[0] == (True, False)


def test_a_reason_that_no_officer_has_approved_stands_on_no_public_page() -> None:
    """Attack: the text of a package that is only built, or that officers refused, on the page of one that is public."""
    study = asked_study()
    public = published_release(study, background="noisy_counts")
    address = reverse("analysis:public_release", args=[study.slug, public.version])

    def is_public() -> bool:
        return REASON in Client().get(address).content.decode()

    refused = requested_release(study, background="counts", reason_for_exact_counts=REASON)
    assert not is_public()
    services.refuse(refused, reason="Not needed.", actor=person(Role.IRB_OFFICER))
    assert not is_public()
    published_release(study, background="counts", reason_for_exact_counts=REASON)
    assert is_public()


def test_a_study_without_a_budget_has_no_ledger_to_release() -> None:
    study = closed_study()
    page = html.fromstring(logged_in(study.owner).get(reverse("analysis:releases", args=[study.slug])).content)
    assert page.xpath('//input[@name="background"]/@value') == ["left_out", "counts", "records"]
    assert page.xpath('//input[@name="reason_for_exact_counts"]') == []
    with pytest.raises(ReleaseError, match="no privacy budget"):
        built_release(study, background="noisy_counts")


def mostly_bots() -> Study:
    """A demonstration to which three people came, too: the budget is theirs, and only the bots' answers can be released."""
    study = study_with_budget(epsilon=10, delta=1e-4)
    Participant.objects.filter(pk__in=list(Participant.objects.filter(study=study).order_by("pk").values_list("pk", flat=True))[3:]).update(
        is_bot=True
    )
    return study


def test_a_release_of_bots_does_not_begin_with_what_was_asked_about_people() -> None:
    study = mostly_bots()
    page = html.fromstring(logged_in(study.owner).get(reverse("analysis:releases", args=[study.slug])).content)
    offered = page.xpath("//input[@name='background']/@value")
    assert "noisy_counts" not in offered
    assert page.xpath("//input[@name='background'][@checked]/@value") == ["left_out"]


@pytest.mark.parametrize(
    ("changes", "status", "why"),
    [
        pytest.param({"background": "noisy_counts"}, 422, "about people, so they cannot be", id="what was asked about people"),
        pytest.param({"background": "records", "k": "1000", "class_size": "1000"}, 409, "1000", id="more alike than there are bots"),
    ],
)
def test_a_release_that_cannot_be_gives_its_form_back(changes: dict[str, str], status: int, why: str) -> None:
    study = mostly_bots()
    typed = {"title": "Answers", "authors": "Lovelace, Ada", "licence": "CC0-1.0", "questions": ["attention"], "smallest_count": "10"}
    sent = {**typed, "data": "simulated", "suppress": "2", "reason_for_exact_counts": "", **changes}
    answer = logged_in(study.owner).post(reverse("analysis:releases", args=[study.slug]), sent)
    page = html.fromstring(answer.content)
    assert answer.status_code == status
    assert why in page.text_content()
    assert page.xpath("//textarea[@name='authors']")[0].text_content().strip() == "Lovelace, Ada"
    assert not Release.objects.exists()
