"""The upgrade from release 0.2.0 with data in every table: nothing is lost, and everybody goes on where they were."""

from collections.abc import Iterator
from contextlib import nullcontext, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import models
from django.test import Client
from django.urls import NoReverseMatch, get_resolver, reverse
from django.utils import timezone

from accounts.models import User
from analysis.models import Release, ReleaseStatus, Run, RunStatus
from analysis.releases.services import approve
from analysis.runs import runner
from candor.packages.verification import faults_of
from config import health
from jobs import tasks
from jobs.registry import JOBS
from surveys.drafting.translations import outdated_in
from surveys.errors import EntryRefusedError
from surveys.journey.services import withdraw
from surveys.models import MediaFile, Participant, Response, Step, Study
from surveys.protocols import protocol_in_force, with_known_originals
from surveys.recruitment.services import require_entry
from surveys.retention.release_plans import promised_counts_at_most
from surveys.studies.services import change_definition
from surveys.study_file import define
from tests.factories import QUESTIONS, answer, follow, heading, logged_in, participant_of
from tests.finished_people import compute
from tests.jobs import catch, work_off, work_on_part
from tests.processes import Site
from tests.releases import package_of
from tests.upgrade.database import Rows, empty_database, insert, migrate_to_release, models_of_release, written

REPLACED = {"analysis.Run": "of each study the newest results of a kind stay", "jobs.Routine": "routines begin anew"}
"""Tables in which the upgrade deletes rows on purpose."""
REMOVED = ("surveys.PanelMember.finished",)
"""Columns that are gone, since they told too much: old code that writes one fails, and stores nothing of that transaction."""


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def release(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any, media_root: Path
) -> Iterator[dict[str, Any]]:
    """A database of 0.2.0, brought up to date; what was in it before."""
    content = written()
    with (
        django_db_blocker.unblock(),
        empty_database(request.param, tmp_path_factory.mktemp("upgrade")),
        pytest.MonkeyPatch.context() as patch,
    ):
        catch(patch)
        content["readiness"] = [readiness()]
        insert(content["rows"], migrate_to_release())
        content["readiness"].append(readiness())
        call_command("migrate", verbosity=0, interactive=False)
        content["readiness"].append(readiness())
        for media in MediaFile.objects.select_related("study"):
            path = Path(media.file.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(f"the content of {media.name} in {media.study.slug} ".encode() * 20)
        yield content


def readiness() -> tuple[set[tuple[str, str]], int]:
    """The migrations that are missing, and the status of /healthz/ready, as a process that has just begun finds them."""
    health._found.clear()
    found = health.missing_migrations(), Client().get("/healthz/ready").status_code
    health._found.clear()
    return found


def test_what_migrate_makes_is_what_is_looked_for(release: dict[str, Any]) -> None:
    """Also of other people's applications; and a database of an older release, or an empty one, is not enough."""
    (without_tables, empty), (without_the_newest, older), (missing, now) = release["readiness"]
    first = ("surveys", "0001_initial")
    assert first in without_tables - without_the_newest
    assert (empty, older, now) == (503, 503, 200)
    assert missing == set()


def study_called(slug: str) -> Study:
    return Study.objects.get(slug=slug)


def test_every_row_is_there_with_what_it_said(release: dict[str, Any]) -> None:
    rows: Rows = release["rows"]
    for label, of_table in rows.items():
        model = apps.get_model(label)
        now = {row.pk: row for row in model._default_manager.all()}
        for before in of_table:
            key = model._meta.pk.to_python(before[model._meta.pk.attname])
            if key not in now and label in REPLACED:
                continue
            assert key in now, f"{label} {key} is gone"
            for field in model._meta.concrete_fields:
                if field.attname in before:
                    said, says = field.to_python(before[field.attname]), getattr(now[key], field.attname)
                    if isinstance(field, models.BinaryField):
                        said, says = (None if one is None else bytes(one) for one in (said, says))
                    assert says == said, f"{label} {key}: {field.attname}"


def test_the_log_is_unbroken(release: dict[str, Any]) -> None:
    call_command("verify_audit_log")


def test_people_of_before_are_counted(release: dict[str, Any]) -> None:
    assert Participant.objects.filter(step=Step.FINISHED).exists()
    assert not Participant.objects.filter(step=Step.FINISHED, counted=False).exists()


def test_studies_of_before_publish_no_records(release: dict[str, Any]) -> None:
    """Their public page promised counts of background answers at most."""
    launched = Study.objects.filter(launched_on__isnull=False, rehearsal_of=None)
    assert launched
    assert all(promised_counts_at_most(study) for study in launched)


def test_a_bootstrap_that_the_old_worker_began_is_begun_again(release: dict[str, Any]) -> None:
    """Its chunks are of the old form: more of them, one family for each question. Merged with new ones they would be neither."""
    begun = Run.objects.get(study__slug="codes", kind="full_results", data__isnull=False)
    assert begun.chunks.filter(family="patterns").exclude(question="").exists()
    work_on_part(begun)
    begun.refresh_from_db()
    assert (begun.status, begun.data, begun.chunks.count()) == (RunStatus.SUPERSEDED, None, 0)
    again = Run.objects.filter(study=begun.study, kind="full_results").latest("pk")
    work_off(again)
    again.refresh_from_db()
    assert again.status in (RunStatus.DONE, RunStatus.SUPERSEDED), again.error


def pages_of(study: Study) -> Iterator[str]:
    """Every address that a study has, and that needs to know no more."""
    for resolver in get_resolver().url_patterns:
        if getattr(resolver, "namespace", None) in ("surveys", "analysis", "webhooks", "lti"):
            for name in (name for name in resolver.reverse_dict if isinstance(name, str)):
                with suppress(NoReverseMatch):
                    yield reverse(f"{resolver.namespace}:{name}", args=[study.slug])


@pytest.mark.parametrize("slug", ["codes", "draft", "published", "forgotten"])
def test_every_page_of_a_study_opens(release: dict[str, Any], slug: str) -> None:
    study = study_called(slug)
    browser = logged_in(study.owner)
    statuses = {address: browser.get(address, headers={"accept": "text/html"}).status_code for address in pages_of(study)}
    assert {address: status for address, status in statuses.items() if status >= 500} == {}
    assert sum(status == 200 for status in statuses.values()) > 20


def test_translations_of_a_draft_of_before_go_stale_from_now_on(release: dict[str, Any]) -> None:
    study = study_called("draft")
    before = with_known_originals(study, define(study.definition))
    assert outdated_in(before) == []
    text = {**study.definition["consent"], "en": "Changed in English alone, and after the upgrade."}
    study = change_definition(study, definition=define({**study.definition, "consent": text}), actor=study.owner)
    assert [one.language for one in outdated_in(with_known_originals(study, define(study.definition)))] == ["de"]


def test_the_packet_opens_for_officers(release: dict[str, Any]) -> None:
    officer = logged_in(User.objects.get(username="officer"))
    for slug in ("codes", "waiting", "published"):
        assert officer.get(reverse("surveys:protocol", args=[slug])).status_code == 200
    assert "waiting" in officer.get(reverse("analysis:inbox")).content.decode()


@pytest.mark.parametrize("step", ["background", "video", "quiz", "die", "questions"])
def test_people_on_their_way_go_on_where_they_were(release: dict[str, Any], step: str) -> None:
    study, browser = study_called("codes"), Client()
    for name, value in release["told"]["cookies"][step].items():
        browser.cookies[name] = value
    person = participant_of(browser)
    assert person.step == step
    assert heading(follow(browser, study)) in ("Thank you", "Danke")
    stored = Response.objects.filter(participant=person.pk).values_list("question", "reported_yes")
    assert dict(stored) == dict.fromkeys(QUESTIONS, True)


def test_codes_of_before_open_the_study_once(release: dict[str, Any]) -> None:
    study = study_called("codes")
    assert follow(Client(), study, until="background", answers={"welcome": {"code": "CODE-0015"}}).status_code == 200
    for spent in ("CODE-0001", "CODE-0015"):
        assert answer(Client(), study, "welcome", code=spent).status_code == 403


def test_panel_members_of_before_do_not_come_again(release: dict[str, Any]) -> None:
    study = study_called("panel")
    [way] = protocol_in_force(study).definition.entry.every_way
    for number, comes in (("number-1", False), ("number-77", True)):
        with nullcontext() if comes else pytest.raises(EntryRefusedError, match="cannot open"):
            require_entry(study, way, code="", panel_identifier=number)


def test_a_withdrawal_code_of_before_takes_everything_out(release: dict[str, Any]) -> None:
    for slug, code in (("codes", "withdrawal_code"), ("panel", "panel_withdrawal_code")):
        people = Participant.objects.filter(study__slug=slug).count()
        assert withdraw(study_called(slug), code=release["told"][code])
        assert Participant.objects.filter(study__slug=slug).count() == people - 1
    assert not withdraw(study_called("codes"), code=release["told"]["withdrawal_code"])


def test_a_token_of_before_opens_the_api(release: dict[str, Any]) -> None:
    headers = {"authorization": f"Bearer {release['told']['token']}"}
    assert Client().get("/api/v1/studies/", headers=headers).status_code == 200


def test_results_of_an_older_method_are_said_to_be_and_computed_again(release: dict[str, Any]) -> None:
    study = study_called("published")
    compute(study)
    Run.objects.filter(study=study).update(method_version="0", results={"tau": 1})
    page = reverse("analysis:results", args=[study.slug])
    assert "stored by an older version" in " ".join(logged_in(study.owner).get(page).content.decode().split())
    runner.recompute_outdated()
    for run in Run.objects.filter(study=study, status=RunStatus.QUEUED):
        work_off(run)
    assert "stored by an older version" not in " ".join(logged_in(study.owner).get(page).content.decode().split())


def test_work_that_the_old_worker_left_is_done(release: dict[str, Any]) -> None:
    for model in {job.model for job in JOBS.values()}:
        model._default_manager.filter(holder__isnull=False).update(due_at=timezone.now() - timedelta(minutes=1))
    tasks.sweep()
    left = Run.objects.filter(status__in=(RunStatus.QUEUED, RunStatus.RUNNING)).order_by("pk")
    assert left, "the old worker left some"
    for run in left:
        work_off(run)
        run.refresh_from_db()
        assert run.status in (RunStatus.DONE, RunStatus.SUPERSEDED), run.error
    started = Release.objects.get(study__slug="started")
    work_off(started)
    started.refresh_from_db()
    assert started.status == ReleaseStatus.BUILT, started.error


def test_releases_of_before_are_what_they_were(release: dict[str, Any]) -> None:
    published, requested = (Release.objects.get(study__slug=slug) for slug in ("published", "requested"))
    assert faults_of(package_of(published)) == []
    address = reverse("analysis:public_release", args=["published", published.version])
    assert Client().get(address).status_code == 200
    assert approve(requested, actor=User.objects.get(username="officer"))
    assert faults_of(package_of(requested)) == []


def test_what_is_stored_is_verified(release: dict[str, Any]) -> None:
    call_command("verify_stored")


@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_the_code_of_before_can_still_store_everything_in_the_tables_of_today(
    vendor: str, tmp_path: Path, django_db_blocker: Any, migrated_folder: Path, built_site: Site
) -> None:
    """A process of 0.2.0 that runs beside the migrations writes rows without the columns that came since."""
    migrated = {"sqlite": str(migrated_folder / "candor.sqlite3"), "postgresql": built_site.environment["DATABASE_URL"]}
    with django_db_blocker.unblock(), empty_database(vendor, tmp_path, like=migrated[vendor]):
        assert not Study.objects.exists()
        insert(written()["rows"], models_of_release(), but=REMOVED)
        assert not Participant.objects.filter(counted=True).exists()
        assert not Study.objects.filter(numbers_withheld=True).exists()
