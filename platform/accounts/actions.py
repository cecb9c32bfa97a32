"""What may happen to accounts, as named in the audit log."""

from audit.actions import register

CREATED = register("account.created", "An account was created")
ROLE_CHANGED = register("account.role_changed", "A person was given another role")
CHANGED = register("account.changed", "An account was changed: its name, its password, or whether it may be used")
LOGGED_IN = register("account.logged_in", "Somebody logged in")
LOGIN_FAILED = register("account.login_failed", "Somebody tried to log in with a wrong name or password")
TOKEN_ISSUED = register("account.token_issued", "A token for the API was issued")
TOKEN_REVOKED = register("account.token_revoked", "A token for the API was revoked")
