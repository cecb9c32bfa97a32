"""Errors of a service that gives DOIs."""

from analysis.packages.errors import ReleaseError


class DepositError(ReleaseError):
    """The service refused a request, or answered in a way that cannot be right. Trying again is of no use by itself."""


class ServiceAwayError(DepositError):
    """The service could not be reached, or cannot work now. Later it may."""
