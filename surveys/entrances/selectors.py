"""The ways into a study as the people who invite see them: an address, a join code, what a panel is told, and numbers in whole tens."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from candor.written_numbers import with_western_digits
from surveys.batches.selectors import ways_shown
from surveys.models import JoinCode, Study
from surveys.questions.entry import NamedWay
from surveys.recruitment.selectors import definition_shown, ended_ways, path_for_participants

ENDS = ("agreed", "finished", "declined", "screened_out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """One way in. `address` is empty for a class without a join code; `panel_address` has the panel's own words in it."""

    way: NamedWay
    numbers: Mapping[str, int] | None
    """None where the study has but one way, whose numbers are the study's."""
    address: str = ""
    panel_address: str = ""
    join_code: str = ""
    ended: bool = False
    """Whether an amendment has taken it away: nobody comes by it, and its numbers are those of the people who came before."""


def entrances_of(study: Study, *, absolute: Callable[[str], str], section: str = "") -> list[Entrance]:
    """Every way into the study, as participants see it now, and after them those that have ended. With a section, its addresses."""
    entry = definition_shown(study).entry
    codes = dict(JoinCode.objects.filter(study=study).values_list("way", "code"))
    shown = ways_shown(study)

    def numbers(way: NamedWay) -> dict[str, int]:
        return dict.fromkeys(ENDS, 0) | shown.get(way.name, {})

    found = []
    for way in entry.every_way:
        code = codes.get(way.name, "") if way.way.takes_join_code else ""
        needs_no_name = entry.is_one or way == entry.without_parameter or way.way.takes_join_code
        named = absolute(path_for_participants(study, section=section, way="" if needs_no_name else way.name, join=code))
        found.append(
            Entrance(
                way=way,
                address="" if way.way.is_panel or (way.way.takes_join_code and not code) else named,
                panel_address=f"{named}{'&' if '?' in named else '?'}{way.way.written}" if way.way.is_panel else "",
                join_code=code,
                numbers=None if entry.is_one else numbers(way),
            )
        )
    return [*found, *(Entrance(way=way, numbers=numbers(way), ended=True) for way in ended_ways(study))]


def entrance_named(study: Study, name: str, *, absolute: Callable[[str], str], section: str = "") -> Entrance | None:
    """The way of this name; without a name the first that has an address to hand out."""
    every = entrances_of(study, absolute=absolute, section=section)
    return next((one for one in every if (one.way.name == name if name else one.address)), None)


def study_with_join_code(code: str) -> tuple[str, str] | None:
    """The slug of the study, and the join code as it is stored, that somebody typed."""
    found = JoinCode.objects.filter(code=with_western_digits("".join(code.split()).upper())).values_list("study__slug", "code").first()
    return found
