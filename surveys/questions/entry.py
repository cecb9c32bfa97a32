"""How people come in."""

from typing import Annotated, Self

from pydantic import AfterValidator, StringConstraints, model_validator

from surveys.questions.parts import Part
from surveys.ways_in import OPEN, WAYS_IN, WayIn, checked_way


class Entry(Part):
    """`kind` is one of `surveys.ways_in`; `completion_url` is the way back. One that is `listed` stands among the public studies."""

    kind: Annotated[str, AfterValidator(checked_way)] = OPEN.name
    completion_url: Annotated[str, StringConstraints(pattern=r"^https://")] | None = None
    listed: bool = False

    @model_validator(mode="after")
    def _strangers_can_come_in(self) -> Self:
        if self.listed and self.kind != OPEN.name:
            raise ValueError(f"listed: expected kind: {OPEN.name}, because strangers come from a public list; found {self.kind}")
        return self

    @property
    def way(self) -> WayIn:
        return WAYS_IN[self.kind]
