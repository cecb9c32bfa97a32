"""Reads deposits."""

from analysis.models import Deposit, Release


def deposit_of(release: Release) -> Deposit | None:
    """The deposit of a release with a service that gives DOIs; None if none was asked for."""
    return Deposit.objects.filter(release=release).first()
