"""What the desk may do to a study's results, as named in the audit log."""

from audit.actions import register

BLINDED = register("results.blinded", "The arms of a study were hidden behind letters until it is closed")
UNBLINDED = register("results.unblinded", "The arms of a study that was blinded were shown before it was closed")
