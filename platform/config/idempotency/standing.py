"""A person's standing where a request goes: a kept answer is given again only as long as it is the same."""

from django.http import Http404
from django.urls import Resolver404, resolve

from accounts.models import User
from analysis.sources.seats import access_data_set
from surveys.access import access_analytics


def standing(account: User, path: str) -> list[str]:
    """The role of the account, and its role in the study or the data set of this address; a word is missing where it sees neither."""
    try:
        named = resolve(path).kwargs
    except Resolver404:
        named = {}
    found = [str(account.role)]
    for name, access in (("slug", access_analytics), ("data_set", access_data_set)):
        if name in named:
            try:
                found.append(f"{name} {access(account, named[name]).role}")
            except Http404:
                continue
    return found
