"""A deposit as a service has it."""

import re
from dataclasses import dataclass
from typing import Self

from django.utils.translation import gettext as _

from analysis.deposits.errors import DepositError

DOI = re.compile(r"10\.\d{4,9}/[!-~]{1,180}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """`number`: the service's name of it."""

    number: str
    doi: str
    is_public: bool

    @classmethod
    def checked(cls, service: str, *, number: str, doi: str, is_public: bool) -> Self:
        """Raises `DepositError` if the service told no number, or no DOI."""
        if not number or not DOI.fullmatch(doi):
            raise DepositError(
                _("Expected the number and the DOI of the deposit from %(service)s, found “%(number)s” and “%(doi)s”.")
                % {"service": service, "number": number[:80], "doi": doi[:80]}
            )
        return cls(number=number[:200], doi=doi, is_public=is_public)
