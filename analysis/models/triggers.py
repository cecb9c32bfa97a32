"""The database's own refusal to rewrite a ledger: charges and their steps stay as they are, and a budget never grows."""

from audit.refusals import Refusal, Trigger

_TABLES = ("analysis_charge", "analysis_chargestep")
_KEYS = {
    "analysis_charge": "budget_id = NEW.budget_id AND number = NEW.number",
    "analysis_chargestep": "charge_id = NEW.charge_id AND place = NEW.place",
}
CHARGES_ARE_KEPT = Refusal(
    function="analysis_refuse",
    sentence="charges of a ledger can be neither changed nor deleted",
    triggers={
        "postgresql": tuple(
            Trigger(f"{table}_is_append_only", table, "UPDATE OR DELETE OR TRUNCATE", each="STATEMENT") for table in _TABLES
        ),
        "sqlite": (
            *(Trigger(f"{table}_is_not_updated", table, "UPDATE") for table in _TABLES),
            *(Trigger(f"{table}_is_not_deleted", table, "DELETE") for table in _TABLES),
            # `INSERT OR REPLACE` deletes what is in its way, and the trigger on deletion is not asked.
            *(
                Trigger(f"{table}_is_not_replaced", table, "INSERT", when=f"EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id OR {key})")  # noqa: S608
                for table, key in _KEYS.items()
            ),
        ),
    },
)
_GROWS = (
    "NEW.source_id <> OLD.source_id OR NEW.rho_units > OLD.rho_units OR NEW.epsilon_units > OLD.epsilon_units "
    "OR NEW.epsilon > OLD.epsilon OR NEW.delta > OLD.delta"
)
_ROWS = (
    Trigger("budget_does_not_grow", "analysis_budget", "UPDATE", when=_GROWS),
    Trigger("budget_is_not_deleted", "analysis_budget", "DELETE"),
)
BUDGETS_NEVER_GROW = Refusal(
    function="analysis_refuse_budget",
    sentence="a privacy budget can become smaller, but neither grow nor be deleted",
    triggers={"postgresql": _ROWS, "sqlite": _ROWS},
)
