"""Words that everybody knows about this place, and that make no password."""

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from accounts.names import RESERVED, folded

KNOWN_WORDS = RESERVED.union(
    ("experiment", "password", "passwort", "participant", "research", "student", "studie", "study", "trial", "university")
)
LETTERS_LEFT = 8


class KnownWordsValidator:
    """Besides such words (docs/security.md, 6.1.2) a password must hold eight characters of its own."""

    def validate(self, password: str, user: object = None) -> None:
        left = folded(password)
        for word in sorted(KNOWN_WORDS, key=len, reverse=True):
            left = left.replace(word, "")
        if len(left) < LETTERS_LEFT:
            raise ValidationError(self.get_help_text(), code="password_of_known_words")

    def get_help_text(self) -> str:
        return _("Your password needs at least eight characters beside words like “candor”, “study” or “password”.")
