"""Administrators' actions on course platforms, as named in the audit log. Nothing that students do is logged."""

from audit.actions import register

PLATFORM_ADDED = register("platform.added", "A course platform was registered")
PLATFORM_CHANGED = register("platform.changed", "A registered course platform was changed")
PLATFORM_REMOVED = register("platform.removed", "A course platform was removed")
KEY_MADE = register("platform.key_made", "The key by which course platforms know this installation was made, on its first use")
KEY_RENEWED = register("platform.key_renewed", "The key by which course platforms know this installation was renewed")
KEY_WITHDRAWN = register("platform.key_withdrawn", "An earlier key for course platforms was withdrawn, and is not published any more")
SENT_AGAIN = register("credit.sent_again", "Credit that a course platform had not taken was sent again")
