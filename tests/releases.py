"""A closed study with people in it, and its release at every stage of its life cycle."""

import csv
import io
from dataclasses import replace

import pytest

from accounts.models import Role, User
from analysis.models import Release
from analysis.releases import building, services
from analysis.releases.services import Choices
from candor.packages.archive import files_in
from surveys.journey import services as participation
from surveys.models import Participant, Step, Study
from surveys.studies import services as studies
from surveys.tokens import hash_of_withdrawal_code
from tests.factories import person, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import work_on

SITE = "https://candor.example.org"
PEOPLE = 96
CODE = "AAAA-BBBB-CCCC-DDDD"
FEW_REPLICATES = 50
CHOICES = Choices(
    title="Attention in recorded lectures",
    authors=("Lovelace, Ada", "Hopper, Grace"),
    licence="CC-BY-4.0",
    questions=("attention", "comprehension"),
    background="counts",
    smallest_count=5,
)


def closed_study(*, people: int = PEOPLE, bots: bool = False, **changes: object) -> Study:
    """The answers are the same each time: blocks of the smallest size fix how many there are in each arm of each subsample."""
    allocation = {"planned_participants": max(people, 48), "block_multiples": [1]}
    study = recruiting_study(**{"allocation": allocation, "die": TELLING_DIE, **changes})
    add_finished_people(study, people)
    if bots:
        Participant.objects.filter(study=study).update(is_bot=True)
    return studies.close(study, actor=study.owner)


def started_release(study: Study, **changes: object) -> Release:
    """The investigator has made the choices; no worker has claimed it yet."""
    choices = {"simulated": not Participant.objects.filter(study=study, is_bot=False).exists()} | changes
    return services.start_release(study, choices=replace(CHOICES, **choices), site=SITE, actor=study.owner)


def built_release(study: Study, *, replicates: int = FEW_REPLICATES, **changes: object) -> Release:
    """A worker has built it, with few resamples: the package says how many, and the check before it is stored makes as many again."""
    release = started_release(study, **changes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "REPLICATES", replicates)
        work_on(release)
    release.refresh_from_db()
    assert release.status == "built", f"{release.status}: {release.error}"
    return release


def requested_release(study: Study, **changes: object) -> Release:
    release = built_release(study, **changes)
    services.request_approval(release, actor=study.owner)
    release.refresh_from_db()
    return release


def published_release(study: Study, *, officer: User | None = None, **changes: object) -> Release:
    release = requested_release(study, **changes)
    assert services.approve(release, actor=officer or person(Role.IRB_OFFICER))
    release.refresh_from_db()
    return release


def package_of(release: Release) -> bytes:
    return bytes(Release.objects.values_list("package", flat=True).get(pk=release.pk) or b"")


def rows_in(release: Release) -> list[dict[str, str]]:
    """data.csv, as any reader would parse it."""
    return list(csv.DictReader(io.StringIO(files_in(package_of(release))["data.csv"].decode())))


def withdraw_one(study: Study) -> None:
    """One of the participants whose answers the results count types their code."""
    one = Participant.objects.filter(study=study, step=Step.FINISHED, counted=True).first()
    assert one is not None
    Participant.objects.filter(pk=one.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    assert participation.withdraw(study, code=CODE)
