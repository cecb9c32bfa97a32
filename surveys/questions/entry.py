"""How people come in: one way, or several at once."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from surveys.questions.parts import Name, Part, formed, some, unique_names
from surveys.ways_in import CODES, OPEN, WAYS_IN, WayIn, checked_way

MOST_WAYS = 20
Address = Annotated[str, formed(r"^https://", "an address that begins with https://")]
Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class Way(Part):
    """`kind` is one of `surveys.ways_in`. The addresses are the ways back: of people who finished, of those who did not agree, and of those
    whom the study does not take. `panel_study` is the panel's own number of the study, so that links of its other studies are refused.
    """

    kind: Annotated[str, AfterValidator(checked_way)] = OPEN.name
    completion_url: Address | None = None
    declined_url: Address | None = None
    screened_out_url: Address | None = None
    panel_study: Annotated[str, formed(r"^[A-Za-z0-9_-]{1,100}$", "at most 100 letters, digits, hyphens and underscores")] | None = None

    @model_validator(mode="after")
    def _kind_names_its_study(self) -> Self:
        if self.panel_study and not self.way.study_in:
            able = [one.name for one in WAYS_IN.values() if one.study_in]
            raise ValueError(f"panel_study: expected a way of kind {' or '.join(able)}, whose links name the study; found {self.kind}")
        return self

    @property
    def way(self) -> WayIn:
        return WAYS_IN[self.kind]


class NamedWay(Way):
    """One way of several. Its name stands in its address and beside its numbers; `label` is for staff."""

    name: Name
    label: Label | None = None

    @property
    def shown_as(self) -> str:
        return self.label or self.name


class Entry(Way):
    """The only way, or the `ways`. A study that is `listed` stands among the public studies."""

    listed: bool = False
    ways: Annotated[tuple[NamedWay, ...], Field(max_length=MOST_WAYS), AfterValidator(unique_names)] = ()

    @model_validator(mode="after")
    def _ways_fit_together(self) -> Self:
        of_one = [name for name, field in Way.model_fields.items() if getattr(self, name) != field.default]
        if self.ways and of_one:
            raise ValueError(f"ways: expected {some(of_one)} inside each way, where there are several; found it beside them")
        if len(self.ways) == 1:
            raise ValueError("ways: expected two or more; one way is written without the list, as kind")
        if self.listed and not any(one.kind == OPEN.name for one in self.every_way):
            found = some([one.kind for one in self.every_way])
            raise ValueError(f"listed: expected kind: {OPEN.name}, because strangers come from a public list; found {found}")
        return self

    @property
    def every_way(self) -> tuple[NamedWay, ...]:
        """The ways; the only one has the name of its kind."""
        return self.ways or (NamedWay(name=self.kind, **{name: getattr(self, name) for name in Way.model_fields}),)

    @property
    def is_one(self) -> bool:
        return not self.ways

    @property
    def names_a_study_of_a_panel(self) -> bool:
        """Whether a panel's number of this study, or a way back to it, is written down: another study needs its own."""
        of_panels = [one for one in self.every_way if one.way.is_panel]
        return any(one.panel_study or one.completion_url or one.declined_url or one.screened_out_url for one in of_panels)

    def named(self, name: str) -> NamedWay | None:
        return next((one for one in self.every_way if one.name == name), None)

    @property
    def without_parameter(self) -> NamedWay | None:
        """The way of people whose address says nothing: an open link, or else personal codes."""
        by_kind = {one.kind: one for one in reversed(self.every_way)}
        return by_kind.get(OPEN.name) or by_kind.get(CODES.name)
