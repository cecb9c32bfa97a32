"""Words of a language that belong to one protocol, beside those of the server: gettext finds them under a code of their own."""

from gettext import GNUTranslations
from io import BytesIO
from itertools import islice

from django.utils.translation import trans_real

from surveys.languages.catalogues import Catalogue, compiled

MOST_AT_HAND = 64
"""Catalogues that a process keeps; each needs less than a megabyte."""
PRIVATE = "-x-"


class Words(trans_real.DjangoTranslation):
    """Django's own names of months in the language, and the sentences of one catalogue; what it lacks is English.

    Nothing comes from the files of the server, which its operator may change while the study runs.
    """

    def __init__(self, code: str, catalogue: Catalogue) -> None:
        self._words = catalogue
        super().__init__(code)

    def _add_local_translations(self) -> None:
        self.merge(GNUTranslations(BytesIO(compiled(self._words))))

    def _add_installed_apps_translations(self) -> None:
        """Participants see no pages of other applications."""


def code_of_words(catalogue: Catalogue, *, sha256: str) -> str:
    """The code under which `translation.override` speaks these words, from now on."""
    code = f"{catalogue.language}{PRIVATE}{sha256[:8]}-{sha256[8:16]}"
    known: dict[str, trans_real.DjangoTranslation] = vars(trans_real)["_translations"]
    if code not in known:
        mine = [one for one in list(known) if PRIVATE in one]
        for oldest in islice(mine, max(len(mine) - MOST_AT_HAND + 1, 0)):
            known.pop(oldest, None)
        known[code] = Words(code, catalogue)
    return code
