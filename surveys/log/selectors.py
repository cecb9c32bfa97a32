"""The entries of the audit log that a person may read."""

from collections.abc import Callable, Iterable
from datetime import date

from django.db.models import Model

from accounts.models import Role, User
from audit.selectors import Asked
from surveys.access import blinded_studies_of, studies_as_analyst
from surveys.models import Study

READERS = (Role.IRB_OFFICER, Role.ADMINISTRATOR)
"""The roles that read the whole log."""
HIDING: list[Callable[[User], Iterable[Model]]] = [blinded_studies_of, studies_as_analyst]
"""Each gives subjects about which somebody reads no entry; applications above add theirs."""


def log_for(
    user: User, *, study: Study | None = None, kind: str = "", person: str = "", since: date | None = None, until: date | None = None
) -> Asked:
    """The entries of the audit log that this person may read, of those they ask for: none about a study in which they are still blinded,
    nor about anything of which they are an analyst.

    Every way of reading the log begins here.
    """
    hidden = [one for subjects in HIDING for one in subjects(user)]
    return Asked(subject=study, hidden=hidden, kind=kind, person=person, since=since, until=until)


def names_of_hidden(asked: Asked) -> list[str]:
    """The subjects about which somebody reads nothing; a rehearsal has no name of its own."""
    return [str(getattr(one, "slug", one)) for one in asked.hidden if not (isinstance(one, Study) and one.rehearsal_of_id)]
