"""Events of accounts, as named in the audit log."""

from audit.actions import register

ONCE_IN_A_WHILE = "one entry in a quarter of an hour"

CREATED = register("account.created", "An account was created")
ROLE_CHANGED = register("account.role_changed", "A person was given another role")
CHANGED = register("account.changed", "An account was changed: its name, its password, or whether it may be used")
LOGGED_IN = register("account.logged_in", "Somebody logged in")
LOGIN_FAILED = register(
    "account.login_failed", "Somebody tried to log in with a wrong name or password, or by another login that was not accepted"
)
LOGIN_REFUSED = register("account.login_refused", f"A login was refused after too many failures; {ONCE_IN_A_WHILE}")
LOGINS_CROWDED = register("account.logins_crowded", f"More passwords came at once than the server checks at a time; {ONCE_IN_A_WHILE}")
TOKEN_REFUSED = register("account.token_refused", f"A program showed a token for the API that is not accepted; {ONCE_IN_A_WHILE}")
PASSWORD_ASKED = register("account.password_asked", "Somebody asked for a link to set a forgotten password")
TOKEN_ISSUED = register("account.token_issued", "A token for the API was issued")
TOKEN_REVOKED = register("account.token_revoked", "A token for the API was revoked")
LOGGED_OUT = register("account.logged_out", "Somebody logged out")
LOGGED_OUT_ELSEWHERE = register("account.logged_out_elsewhere", "Somebody ended all their other sessions")
NOTICES_CHANGED = register("account.notices_changed", "Somebody asked to be told by e-mail when it is their turn, or not to be")
LANGUAGE_CHOSEN = register("account.language_chosen", "Somebody chose the language of their pages")
PASSWORD_CHANGED = register("account.password_changed", "Somebody changed their password")
SECOND_FACTOR_ADDED = register("account.second_factor_added", "A second factor was added to an account")
SECOND_FACTOR_REMOVED = register("account.second_factor_removed", "A second factor was removed from an account")
SECOND_FACTOR_FAILED = register("account.second_factor_failed", "Somebody gave the right password and a wrong code")
