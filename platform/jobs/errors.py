"""How work can end before it is done. Every other exception is a bug: it fails the work too, and is raised."""


class TakenError(Exception):
    """Another worker has the work now, or nobody wants it any more: there is nothing to write."""


class ExpectedError(Exception):
    """The work failed for a reason that its sentence explains to those who asked for it."""
