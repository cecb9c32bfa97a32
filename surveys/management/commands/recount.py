"""Compare the counts that are kept of each study with the rows of its people."""

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.batches.recount import wrong_counts
from surveys.batches.services import count_again
from surveys.models import Study


class Command(BaseCommand):
    help = "Count all people in the shown numbers again and compare. Ends with 1 where a kept count is wrong."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slugs", nargs="*", help="addresses of studies; all, if none is given")
        parser.add_argument("--repair", action="store_true", help="keep what was counted where counts are wrong or missing")

    def handle(self, *, slugs: list[str], repair: bool, **options: object) -> None:
        studies = Study.objects.filter(protocol__isnull=False).defer("definition")
        known = set(studies.values_list("slug", flat=True))
        if unknown := sorted(set(slugs) - known):
            raise CommandError(f"Expected addresses of studies that were approved, found {', '.join(unknown)}.")
        wrong = 0
        for study in studies.filter(slug__in=slugs) if slugs else studies:
            found = wrong_counts(study)
            if found is None:
                self.stdout.write(f"{study.slug}: nothing is kept, or batches came all the time")
            elif found:
                wrong += 1
                self.stdout.write(f"{study.slug}: wrong: {', '.join(f'{part} ({number})' for part, number in found.items())}")
            else:
                self.stdout.write(f"{study.slug}: right")
            if repair and found != {}:
                count_again(study)
                self.stdout.write(f"{study.slug}: counted again")
        if wrong and not repair:
            raise CommandError(f"The kept counts of {wrong} studies are wrong. `--repair` counts them again.")
