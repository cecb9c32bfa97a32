"""Staff actions on a study's webhooks, as named in the audit log."""

from audit.actions import register

ADDED = register("webhook.added", "A program asked to be told about a study")
REMOVED = register("webhook.removed", "A program is no longer told about a study")
SECRET_RENEWED = register("webhook.secret_renewed", "A program's webhook got another secret; the one before signs for two more days")
SENT_AGAIN = register("webhook.sent_again", "A message to a program was sent again")
