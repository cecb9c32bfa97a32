"""Releases that never become public: what their pages say, and how they differ from the one that follows."""

import pytest
from django.urls import reverse

from accounts.models import Role
from analysis.releases import services
from tests.factories import logged_in, page_of, person
from tests.releases import built_release, closed_study, published_release, requested_release, started_release

pytestmark = pytest.mark.django_db


def test_releases_that_were_meant_for_one_version_are_told_apart_and_say_what_became_of_them() -> None:
    study = closed_study()
    services.refuse(requested_release(study), reason="The title names a course.", actor=person(Role.IRB_OFFICER))
    discarded = built_release(study)
    services.discard(discarded, actor=study.owner)
    published_release(study)
    started_release(study)
    client = logged_in(study.owner)
    listed = page_of(client.get(reverse("analysis:releases", args=[study.slug]))).xpath("//li[@class='card']//h3")
    names = [one.text_content().partition(":")[0] for one in listed]
    assert names == ["Version 2", "Version 1, attempt 3", "Version 1, attempt 2", "Version 1"]
    page = page_of(client.get(reverse("analysis:releases_one", args=[study.slug, discarded.pk])))
    assert page.xpath("string(//h1)") == "Data release, version 1, attempt 2"
    (told,) = page.xpath("//*[@id='release']//*[contains(@class, 'notice')]")
    assert "It was given up before it was public. The package is deleted" in told.text_content()
    assert told.xpath(".//a/@href") == [reverse("analysis:releases", args=[study.slug])]
