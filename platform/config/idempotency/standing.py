"""A person's standing where a request goes: a kept answer is given again only as long as it is the same."""

from django.http import Http404
from django.urls import Resolver404, resolve

from accounts.models import User
from analysis.models import Snapshot, SnapshotStatus
from analysis.sources.seats import access_data_set
from surveys.access import access_analytics


def standing(account: User, path: str) -> list[str]:
    """The role of the account, and its role in the study or the data set of this address; a word is missing where it sees neither.

    How often the rows there were replaced belongs to it: exact answers go with somebody who withdraws, also from kept answers.
    """
    try:
        named = resolve(path).kwargs
    except Resolver404:
        named = {}
    found = [str(account.role)]
    seats = (("slug", access_analytics, "source__study__slug"), ("data_set", access_data_set, "source__data_set__slug"))
    for name, access, place in seats:
        if name in named:
            try:
                found.append(f"{name} {access(account, named[name]).role}")
            except Http404:
                continue
            if replaced := Snapshot.objects.filter(**{place: named[name], "status": SnapshotStatus.REPLACED}).count():
                found.append(f"{replaced} times replaced")
    return found
