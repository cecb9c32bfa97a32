"""The ledger as the API shows it."""

from collections.abc import Mapping

from rest_framework import serializers

from analysis.ledger.page import Ledger
from analysis.ledger.services import LONGEST_REASON


class SpentSerializer(serializers.Serializer[object]):
    rho = serializers.FloatField(source="spent.rho", help_text="zCDP: charges add up.")
    pure_epsilon = serializers.FloatField(source="spent.pure_epsilon", allow_null=True, help_text="Σε, while every charge is pure.")
    epsilon = serializers.FloatField(source="account.epsilon_spent", help_text="ε of the (ε, δ) equivalent, at the δ of the budget.")


class BudgetSerializer(serializers.Serializer[object]):
    epsilon = serializers.FloatField(source="budget.epsilon")
    delta = serializers.FloatField(source="budget.delta")
    rho = serializers.FloatField(help_text="The largest ρ whose (ε, δ) equivalent is within the budget.")
    frozen_on = serializers.DateField(source="budget.frozen_on", allow_null=True)
    frozen_because = serializers.CharField(source="budget.frozen_because", allow_blank=True)
    changes = serializers.IntegerField(
        source="budget.changes", help_text="How often officers have frozen it, let it be spent again, or lowered it."
    )


class ChargeSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(source="asked.charge.number")
    question = serializers.JSONField(source="asked.charge.document", help_text="The question's document.")
    sentence = serializers.CharField()
    sha256 = serializers.CharField(source="asked.charge.sha256")
    rho = serializers.FloatField(source="asked.loss.rho")
    pure_epsilon = serializers.FloatField(source="asked.loss.pure_epsilon", allow_null=True)
    state = serializers.ChoiceField(["reserved", "drawn", "answered", "returned"], source="asked.state")
    reason = serializers.CharField(source="asked.reason", allow_blank=True, help_text="Why it was returned, or why there is no answer.")
    answer = serializers.JSONField(source="asked.answer", allow_null=True)
    n = serializers.IntegerField(source="asked.charge.n")
    asked_by = serializers.CharField(source="asked.charge.asked_by.username")
    asked_on = serializers.DateField(source="asked.charge.asked_on")


class LedgerSerializer(serializers.Serializer[object]):
    study = serializers.CharField(allow_null=True, help_text="Null: the ledger of a data set.")
    data_set = serializers.CharField(allow_null=True, help_text="Null: the ledger of a study.")
    budget = BudgetSerializer(source="ledger", allow_null=True, help_text="Null: the study has no budget, or is not closed.")
    spent = SpentSerializer(source="ledger", allow_null=True)
    participants = serializers.IntegerField(
        source="ledger.snapshot.n", allow_null=True, help_text="Rows of the table that questions are asked about."
    )
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

    obstacle = serializers.CharField(
        source="preview.obstacle", allow_blank=True, help_text="Why the ledger would refuse it; empty if it would not."
    )
    rho_left = serializers.FloatField(source="preview.account.left.loss.rho")
    pure_epsilon_left = serializers.FloatField(source="preview.account.left.loss.pure_epsilon", help_text="For one question with pure ε.")
    pure_epsilon_left_after = serializers.FloatField(
        source="preview.after.left.loss.pure_epsilon",
        allow_null=True,
        help_text="Only for the first charge that is not pure, which ends Σε for good; null for all others.",
    )


def ledger_document(names: Mapping[str, str | None], ledger: Ledger | None) -> dict[str, object]:
    """The ledger, or what is told where there is none. `names`: the short name of the study or of the data set."""
    obstacle, charges = (ledger.obstacle, ledger.lines) if ledger else ("", ())
    shown = {"study": None, "data_set": None, **names, "ledger": ledger, "obstacle": obstacle, "charges": charges}
    return dict(LedgerSerializer(shown).data)
