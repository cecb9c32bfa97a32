"""The licences under which data can be given away."""

from dataclasses import dataclass

from django.utils.translation import gettext_noop as _


@dataclass(frozen=True, slots=True, kw_only=True)
class Licence:
    name: str
    """SPDX identifier."""
    title: str
    address: str
    meaning: str


LICENCES = {
    one.name: one
    for one in (
        Licence(
            name="CC0-1.0",
            title="Creative Commons Zero 1.0",
            address="https://creativecommons.org/publicdomain/zero/1.0/",
            meaning=_("Anybody may use the data for anything. Being cited is a courtesy."),
        ),
        Licence(
            name="CC-BY-4.0",
            title="Creative Commons Attribution 4.0",
            address="https://creativecommons.org/licenses/by/4.0/",
            meaning=_("Anybody may use the data for anything, and must name you."),
        ),
        Licence(
            name="ODbL-1.0",
            title="Open Database License 1.0",
            address="https://opendatacommons.org/licenses/odbl/1-0/",
            meaning=_("Anybody may use the data, must name you, and must share changed data under the same licence."),
        ),
    )
}
