"""How programs find the public pages of this site: robots.txt, and a map of the pages."""

from datetime import date
from typing import TYPE_CHECKING

from django.contrib.sitemaps import Sitemap
from django.contrib.sitemaps.views import sitemap
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from analysis.models import PackageStatus, ReleaseStatus
from analysis.releases.selectors import public_releases
from analysis.sources.selectors import public_record_packages

Place = tuple[str, date | None]
"""An address, and the day from which it stands as it is."""
if TYPE_CHECKING:
    SitemapOfPlaces = Sitemap[Place]
else:
    SitemapOfPlaces = Sitemap
FOR_EVERYBODY = (
    "home",
    "surveys:privacy_for_strangers",
    "surveys:two_worlds",
    "surveys:open_studies",
    "surveys:in_class",
    "analysis:public_releases",
    "analysis:methods_page",
    "analysis:evidence",
)
ALLOWED = ("/data-sets/*/public/",)
FORBIDDEN = ("/s/", "/in-class/*/", "/studies/", "/data-sets/", "/accounts/", "/admin/", "/api/", "/invitations/", "/data-set-invitations/")
"""Participants' pages are among them: nobody should come to a sensitive question by a search."""


@require_safe
@cache_control(public=True, max_age=3600)
def robots(request: HttpRequest) -> HttpResponse:
    """The rules of the Robots Exclusion Protocol, RFC 9309."""
    lines = ["User-agent: *", *(f"Allow: {path}" for path in ALLOWED), *(f"Disallow: {path}" for path in FORBIDDEN)]
    where = request.build_absolute_uri(reverse("analysis:site_map"))
    return HttpResponse("\n".join([*lines, "", f"Sitemap: {where}", ""]), content_type="text/plain; charset=utf-8")


class PublicPages(SitemapOfPlaces):
    """The pages that are the same for everybody, and public data with its day; retracted data need not be found."""

    def items(self) -> list[Place]:
        published = public_releases().filter(status=ReleaseStatus.PUBLISHED)
        records = public_record_packages().filter(status=PackageStatus.BUILT)
        return [
            *((reverse(name), None) for name in FOR_EVERYBODY),
            *((reverse("analysis:public_release", args=[one.study.slug, one.version]), one.decided_on) for one in published),
            *((reverse("analysis:public_records", args=[one.data_set.slug]), one.data_set.decided_on) for one in records),
        ]

    def location(self, item: Place) -> str:
        return item[0]

    def lastmod(self, item: Place) -> date | None:
        return item[1]


@require_safe
@cache_control(public=True, max_age=3600)
def site_map(request: HttpRequest) -> TemplateResponse:
    """The map, by the protocol of sitemaps.org."""
    return sitemap(request, {"pages": PublicPages})
