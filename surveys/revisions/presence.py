"""The people who work on a draft now. The cache alone knows, and forgets it a minute after the last sign."""

from django.core.cache import cache
from django.db.models import Q

from accounts.models import Role, User
from surveys.models import MemberRole, Study

SECONDS = 60
"""How long a sign counts; an open page gives one three times in that time."""


def others_at(study: Study, person: User, *, page: str) -> list[tuple[str, bool]]:
    """The names of the others who work on this draft now, and whether they are on this page; and a sign of this person."""
    cache.set(_key(study, person.pk), page, timeout=SECONDS)
    editors = Q(memberships__study=study, memberships__role=MemberRole.EDITOR)
    people = User.objects.filter(Q(pk=study.owner_id) | Q(role=Role.ADMINISTRATOR) | editors, is_active=True).exclude(pk=person.pk)
    names = dict(people.values_list("pk", "username"))
    there = {user: where for user in names if (where := cache.get(_key(study, user)))}
    return sorted((names[user], where == page) for user, where in there.items())


def _key(study: Study, user: int) -> str:
    return f"edits-{study.pk}-{user}"
