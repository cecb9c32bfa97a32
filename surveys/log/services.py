"""The audit log as a file, or its check, for people who may read it."""

from collections.abc import Iterator

from accounts.models import User
from audit import services, tasks
from audit.models import Entry
from audit.selectors import number_of_entries
from surveys.log.selectors import log_for, names_of_hidden
from surveys.models import Study

LARGEST_CHECKED_AT_ONCE = 20_000


def export_log(*, study: Study | None = None, actor: User) -> Iterator[str]:
    """All of the log that this person may read, or the entries about one study, as JSON Lines; sent while it is read."""
    asked = log_for(actor, study=study)
    part = ""
    if study is not None:
        part = f"the entries about the study {study.slug}"
    elif asked.hidden:
        part = f"all entries but those about {', '.join(names_of_hidden(asked))}"
        part += f", of which {actor.username} is a blinded viewer or an analyst"
    return services.export(asked, part=part, actor=actor)


def verify_log(*, actor: User) -> Entry | None:
    """Check the chain: at once while it is short, else by a worker. Return the entry with the result, once there is one."""
    if number_of_entries() < LARGEST_CHECKED_AT_ONCE:
        return services.verify_and_record(actor=actor)
    tasks.verify_log.apply_async(args=(actor.pk,), retry=False)
    return None
