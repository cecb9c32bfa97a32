"""The registry of actions for the log. Each app names its own in its `actions.py`; unregistered actions cannot be recorded."""

_DESCRIPTIONS: dict[str, str] = {}


class UnregisteredActionError(LookupError):
    """Somebody tried to record an action that no app has registered."""


def register(name: str, description: str) -> str:
    """Allow `name` ("study.launched") in the log, described for its readers; returns the name, to be kept as a constant."""
    if _DESCRIPTIONS.setdefault(name, description) != description:
        raise ValueError(f"The audit action {name!r} is registered already, as {_DESCRIPTIONS[name]!r}.")
    return name


def description_of(name: str) -> str:
    """The description of a registered action."""
    if name not in _DESCRIPTIONS:
        known = ", ".join(sorted(_DESCRIPTIONS)) or "none"
        raise UnregisteredActionError(f"The audit action {name!r} is not registered; these are: {known}.")
    return _DESCRIPTIONS[name]


def registered() -> dict[str, str]:
    """All names with their descriptions."""
    return dict(_DESCRIPTIONS)


VERIFIED = register("log.verified", "The chain of the audit log was checked")
EXPORTED = register("log.exported", "The audit log, or a part of it, was exported")
