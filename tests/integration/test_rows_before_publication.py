"""Rows of a release before it is public: the page About this study says that people who run a study see none."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis.releases import services
from audit.models import Entry
from tests.factories import logged_in, page_of, person
from tests.releases import built_release, closed_study, requested_release, rows_in

pytestmark = pytest.mark.django_db


def test_people_who_run_a_study_see_no_row_of_a_person_before_it_is_public() -> None:
    study = closed_study()
    release, owner, officer = requested_release(study), logged_in(study.owner), logged_in(person(Role.IRB_OFFICER))
    page, in_api = reverse("analysis:releases_one", args=[study.slug, release.pk]), f"/api/v1/studies/{study.slug}/releases/{release.pk}/"
    seen = Entry.objects.filter(action="release.rows_seen")

    def rows_of(browser: Client) -> tuple[list[str], int, list[list[str]]]:
        table = page_of(browser.get(page)).xpath("//section[@aria-labelledby='rows']//table")[0]
        return table.xpath("./thead//code/text()"), len(table.xpath("./tbody/tr")), browser.get(in_api).json()["rows"]

    columns, shown, rows = rows_of(owner)
    assert (columns, shown, rows) == (list(rows_in(release)[0]), 0, [])
    assert not seen.exists()
    assert rows_of(officer)[1] == len(rows_of(officer)[2]) == 10
    assert seen.count() == 1
    services.approve(release, actor=person(Role.IRB_OFFICER))
    assert rows_of(owner)[1] == len(rows_of(owner)[2]) == 10


def test_the_rows_of_bots_are_nobodys() -> None:
    rehearsed = closed_study(bots=True, slug="with-bots")
    release = built_release(rehearsed, simulated=True)
    assert len(logged_in(rehearsed.owner).get(f"/api/v1/studies/{rehearsed.slug}/releases/{release.pk}/").json()["rows"]) == 10
