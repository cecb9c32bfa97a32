"""Print what a service that gives DOIs would be sent for a release. Nothing is sent."""

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.deposits.description import description_of
from analysis.deposits.offered import NAMES, configured, planned
from analysis.models import Release

STEPS = {"reserve": "When the release is asked for: reserve a DOI", "publish": "Once it is approved: send the files, register the DOI"}


class Command(BaseCommand):
    help = "Prints each request that would reserve and publish a DOI for a release, without the token. Sends nothing, to nobody."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name, as in its address")
        parser.add_argument("version", type=int, help="the version of the release")
        parser.add_argument("--service", choices=sorted(NAMES), help="another service than that of the settings")

    def handle(self, *args: object, study: str, version: int, service: str | None, **options: object) -> None:
        release = Release.objects.select_related("study").filter(study__slug=study, version=version).order_by("-pk").first()
        if release is None:
            raise CommandError(f"Expected a release of a study, found none of {study} with version {version}.")
        try:
            offered = configured()
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        name = service or (offered.name if offered else "")
        if not name:
            raise CommandError("Expected DOI_SERVICE in the settings, or --service; found neither.")
        description = description_of(release)
        if missing := NAMES[name].wants(description):
            raise CommandError(missing)
        for step, requests in planned(name, description, dict.fromkeys([one["name"] for one in release.files], b"")):
            self.stdout.write(f"# {STEPS[step]}")
            for one in requests:
                self.stdout.write(f"{one.method} {one.address}" + (f"   ({one.file})" if one.file else ""))
                if one.written:
                    self.stdout.write(one.written)
