"""The ways in which work can end early. Every other exception is a bug: it fails the work too, and is raised."""


class TakenError(Exception):
    """Another worker has the work now, or nobody wants it any more: write nothing."""


class ExpectedError(Exception):
    """The work failed for a reason that its sentence explains to the people who asked for it."""
