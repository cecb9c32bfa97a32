"""The database's own refusal to change a frozen protocol: a text to which somebody agreed never changes.

Sandbox copies of rehearsals, to which nobody agreed, can be deleted. On SQLite a migration that alters the table recreates it without
triggers and must install them again.
"""

from audit.refusals import Refusal, Trigger

_ROWS = (
    Trigger("protocol_is_not_updated", "surveys_protocol", "UPDATE"),
    Trigger("protocol_is_not_deleted", "surveys_protocol", "DELETE", when="NOT OLD.of_rehearsal"),
)
PROTOCOLS_ARE_FROZEN = Refusal(
    function="surveys_refuse",
    sentence="a frozen protocol can be neither changed nor deleted",
    triggers={"postgresql": (*_ROWS, Trigger("protocols_are_kept", "surveys_protocol", "TRUNCATE", each="STATEMENT")), "sqlite": _ROWS},
)
PREREGISTRATIONS_ARE_KEPT = Refusal(
    function="surveys_refuse_preregistration",
    sentence="a preregistration can be neither changed nor deleted",
    triggers=dict.fromkeys(
        ("postgresql", "sqlite"),
        (
            Trigger("preregistration_is_not_updated", "surveys_preregistration", "UPDATE"),
            Trigger("preregistration_is_not_deleted", "surveys_preregistration", "DELETE"),
        ),
    ),
)
install, remove = PROTOCOLS_ARE_FROZEN.install, PROTOCOLS_ARE_FROZEN.remove
