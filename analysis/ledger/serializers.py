"""The ledger as the API shows it."""

from collections.abc import Mapping

from rest_framework import serializers

from analysis.ledger.page import Ledger, Line
from analysis.ledger.selectors import Preview
from analysis.ledger.services import LONGEST_REASON
from analysis.ledger.units import UNITS


class SpentSerializer(serializers.Serializer[object]):
    rho = serializers.FloatField(help_text="zCDP: charges add up.")
    pure_epsilon = serializers.FloatField(allow_null=True, help_text="Σε, while every charge is pure.")
    epsilon = serializers.FloatField(help_text="ε of the (ε, δ) equivalent, at the δ of the budget.")


class BudgetSerializer(serializers.Serializer[object]):
    epsilon = serializers.FloatField()
    delta = serializers.FloatField()
    rho = serializers.FloatField(help_text="The largest ρ whose (ε, δ) equivalent is within the budget.")
    frozen_on = serializers.DateField(allow_null=True)
    frozen_because = serializers.CharField(allow_blank=True)
    changes = serializers.IntegerField(help_text="How often officers have frozen it, let it be spent again, or lowered it.")


class ChargeSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField()
    question = serializers.JSONField(help_text="The question's document.")
    sentence = serializers.CharField()
    sha256 = serializers.CharField()
    rho = serializers.FloatField()
    pure_epsilon = serializers.FloatField(allow_null=True)
    state = serializers.ChoiceField(["reserved", "drawn", "answered", "returned"])
    reason = serializers.CharField(allow_blank=True, help_text="Why it was returned, or why there is no answer.")
    answer = serializers.JSONField(allow_null=True)
    n = serializers.IntegerField()
    asked_by = serializers.CharField()
    asked_on = serializers.DateField()


class LedgerSerializer(serializers.Serializer[object]):
    study = serializers.CharField(allow_null=True, help_text="Null: the ledger of a data set.")
    data_set = serializers.CharField(allow_null=True, help_text="Null: the ledger of a study.")
    budget = BudgetSerializer(allow_null=True, help_text="Null: the study has no budget, or is not closed.")
    spent = SpentSerializer(allow_null=True)
    participants = serializers.IntegerField(allow_null=True, help_text="Rows of the table that questions are asked about.")
    obstacle = serializers.CharField(allow_blank=True, help_text="Why nothing can be asked now.")
    charges = ChargeSerializer(many=True)


class FrozenSerializer(serializers.Serializer[object]):
    frozen = serializers.BooleanField()
    reason = serializers.CharField(max_length=LONGEST_REASON, required=False, allow_blank=True, default="", help_text="Needed to freeze.")
    changes = serializers.IntegerField(
        required=False, help_text="The budget's `changes` that you have read: one that was frozen anew stays frozen."
    )


class OfferSerializer(serializers.Serializer[object]):
    """Every preview says whether the ledger would take the question, and what is left before and after it."""

    obstacle = serializers.CharField(allow_blank=True, help_text="Why the ledger would refuse it; empty if it would not.")
    rho_left = serializers.FloatField()
    pure_epsilon_left = serializers.FloatField(help_text="For one question with pure ε.")
    pure_epsilon_left_after = serializers.FloatField(
        allow_null=True, help_text="Only for the first charge that is not pure, which ends Σε for good; null for all others."
    )


def offer_document(preview: Preview) -> dict[str, object]:
    """The fields that `OfferSerializer` describes."""
    return {
        "obstacle": preview.obstacle,
        "rho_left": preview.account.rho_left / UNITS,
        "pure_epsilon_left": preview.account.pure_left / UNITS,
        "pure_epsilon_left_after": preview.after and preview.after.pure_left / UNITS,
    }


def ledger_document(names: Mapping[str, str | None], ledger: Ledger | None) -> dict[str, object]:
    """The ledger, as `LedgerSerializer` describes it. `names`: the short name of the study or of the data set."""
    if ledger is None:
        return {**names, "budget": None, "spent": None, "participants": None, "obstacle": "", "charges": []}
    budget, spent = ledger.budget, ledger.spent
    return {
        **names,
        "budget": {
            "epsilon": budget.epsilon,
            "delta": budget.delta,
            "rho": ledger.rho,
            "frozen_on": budget.frozen_on,
            "frozen_because": budget.frozen_because,
            "changes": budget.changes,
        },
        "spent": {"rho": spent.rho, "pure_epsilon": spent.pure_epsilon, "epsilon": ledger.account.epsilon_spent},
        "participants": ledger.snapshot.n if ledger.snapshot else None,
        "obstacle": ledger.obstacle,
        "charges": [_charge(line) for line in ledger.lines],
    }


def _charge(line: Line) -> dict[str, object]:
    asked, charge = line.asked, line.asked.charge
    return {
        "number": charge.number,
        "question": charge.document,
        "sentence": line.sentence,
        "sha256": charge.sha256,
        "rho": asked.loss.rho,
        "pure_epsilon": asked.loss.pure_epsilon,
        "state": asked.state,
        "reason": asked.reason,
        "answer": asked.answer,
        "n": charge.n,
        "asked_by": charge.asked_by.get_username(),
        "asked_on": charge.asked_on,
    }
