"""Administrators' actions on course platforms, as named in the audit log. Nothing that students do is logged."""

from audit.actions import register

PLATFORM_ADDED = register("platform.added", "A course platform was registered")
PLATFORM_CHANGED = register("platform.changed", "A registered course platform was changed")
PLATFORM_REMOVED = register("platform.removed", "A course platform was removed")
KEY_RENEWED = register("platform.key_renewed", "The key by which course platforms know this installation was renewed")
SENT_AGAIN = register("credit.sent_again", "Credit that a course platform had not taken was sent again")
