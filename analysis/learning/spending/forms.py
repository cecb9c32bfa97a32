"""Forms that ask the ledger."""

from django import forms


class QuestionForm(forms.Form):
    def document(self) -> dict[str, object]:
        """The question that was typed."""
        raise NotImplementedError
