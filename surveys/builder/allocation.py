"""How people are spread over the groups, and how long they must wait before they go on."""

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.allocation.findable import findable
from surveys.builder.frame import LookingPage
from surveys.definition import DIRECT, StudyDefinition
from surveys.drafting.edits import Document, Edit, Unchecked
from surveys.drafting.forms import DraftForm, Typed, typed_value
from surveys.drafting.watching import WATCHING, read_watching, typed_watching
from surveys.errors import DefinitionError
from surveys.questions.assignment import MOST_PARTICIPANTS, MOST_STRATA, Allocation
from surveys.questions.background import OrdinalScale, SingleChoice
from surveys.questions.sections import MOST_SECTIONS, least_sections
from surveys.questions.stimuli import Watching
from surveys.study_file import define, document_of

SCHEMES = (
    ("permuted_block", gettext_lazy("Blocks of random size: groups stay nearly of the planned size all the time")),
    ("complete", gettext_lazy("One list with the planned shares: exact when all planned participants have come")),
    ("simple", gettext_lazy("A fresh draw for each person: sizes are left to chance")),
)
UNITS = (
    ("individual", gettext_lazy("Each person alone")),
    ("cluster", gettext_lazy("Each section or class as a whole: all its people see the same lecture")),
)
LARGEST_WEIGHT = 1000
MOST_QUESTIONS = 2
"""Background questions whose answers make strata."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The parts of the document that the page edits; weights and quotas are stored with the arms and the die."""

    def current(self, document: Document) -> dict[str, Unchecked]:
        definition = define(dict(document))
        return {
            "scheme": definition.allocation.scheme,
            "planned_participants": definition.allocation.planned_participants,
            "block_multiples": list(definition.allocation.block_multiples),
            "strata": list(definition.allocation.strata),
            "unit": definition.allocation.unit,
            "sections": list(definition.allocation.sections),
            "arms": {arm.name: {"weight": arm.weight, "quota": arm.quota} for arm in definition.arms},
            "subsamples": definition.subsample_weights,
            "minimum_seconds": definition.minimum_seconds,
            "watching": {"mode": definition.watching.mode, "share": definition.watching.share},
        }

    def merged(self, document: Document, value: Document) -> dict[str, Unchecked]:
        definition = define(dict(document))
        arms = tuple(arm.model_copy(update=value["arms"].get(arm.name, {})) for arm in definition.arms)
        weights = {name: weight for name, weight in value["subsamples"].items() if name in definition.die.subsamples and weight != 1}
        changed = definition.model_copy(
            update={
                "allocation": Allocation(**{key: value[key] for key in ("scheme", "planned_participants", "block_multiples", "strata")}),
                "arms": arms,
                "die": definition.die.model_copy(update={"weights": weights}),
                "minimum_seconds": value["minimum_seconds"],
                "watching": Watching(**value["watching"]),
            }
        )
        merged: dict[str, Unchecked] = document_of(changed)
        if value["unit"] == "cluster":  # labels that cannot be are for the whole definition to refuse
            merged["allocation"] = merged["allocation"] | {"unit": value["unit"], "sections": value["sections"]}
        return merged


class AllocationPage(LookingPage):
    part = "allocation"
    template_name: ClassVar[str] = "surveys/builder/allocation.html"

    def edit(self) -> Edit:
        return Spread()

    def typed(self) -> Typed:
        found = Spread().current(self.document)
        typed: Typed = {name: typed_value(found[name]) for name in ("scheme", "planned_participants", "minimum_seconds")}
        typed |= {"strata": found["strata"], "unit": found["unit"], "sections": _in_lines(found["sections"])}
        typed |= {"block_multiples": ", ".join(map(str, found["block_multiples"])), **typed_watching(self.definition.watching)}
        for name, arm in found["arms"].items():
            typed |= {f"arms.{name}.weight": typed_value(arm["weight"]), f"arms.{name}.quota": typed_value(arm["quota"])}
        return typed | {f"subsamples.{name}.weight": typed_value(weight) for name, weight in found["subsamples"].items()}

    def read(self, form: DraftForm) -> dict[str, object]:
        scheme = form.choice("scheme", [name for name, _label in SCHEMES], missing=_("Choose how the list is drawn."))
        planned = form.whole_number(
            "planned_participants",
            what=_("The number of participants"),
            minimum=2,
            maximum=MOST_PARTICIPANTS,
            missing=_("Write how many participants are planned."),
        )
        multiples = self._multiples(form)
        arms = {}
        for arm in self.definition.arms:
            place = f"arms.{arm.name}"
            quota = form.whole_number(f"{place}.quota", what=_("The quota"), minimum=1, maximum=MOST_PARTICIPANTS)
            arms[arm.name] = {"weight": self._weight(form, f"{place}.weight"), "quota": quota}
        subsamples = {name: self._weight(form, f"subsamples.{name}.weight") for name in self.definition.die.subsamples}
        strata = [name for name in form.several("strata") if name in dict(self._questions_for_strata())]
        self._require_possible_strata(form, strata)
        unit = form.choice("unit", [name for name, _label in UNITS], missing=_("Choose what chance gives an arm to."))
        seconds = form.whole_number(
            "minimum_seconds", what=_("The time"), minimum=0, maximum=120, missing=_("Write a number of seconds; 0 is one.")
        )
        value: dict[str, object] = {
            "scheme": scheme,
            "planned_participants": planned,
            "block_multiples": multiples,
            "strata": strata,
            "unit": unit,
            "sections": _out_of_lines(form.line("sections")) if unit == "cluster" else [],
            "arms": arms,
            "subsamples": subsamples,
            "minimum_seconds": seconds,
            "watching": read_watching(form, self.definition),
        }
        if unit == "cluster" and not form.summary:
            self._require_possible_sections(form, value)
        return value

    def _require_possible_sections(self, form: DraftForm, value: Document) -> None:
        """Sections depend on most other parts of a study; the whole of it has the last word."""
        definition, labels, arms = self.definition, value["sections"], value["arms"].values()
        least = least_sections([arm["weight"] for arm in arms])
        hindered = [
            (definition.is_survey, _("A survey with one arm gives nobody an arm.")),
            (any(arm["quota"] for arm in arms), _("A quota would close a section half-way: remove the quotas.")),
            (value["strata"], _("Strata are drawn for people one by one: choose no question for them.")),
            (definition.direct_group, _("The comparison with direct questions takes people for independent: ask nobody directly.")),
            (definition.analysis.margins, _("Tests with a margin take people for independent: plan none.")),
            (definition.subgroups, _("Comparisons of subgroups take people for independent: choose none.")),
            (len(set(labels)) < len(labels), _("Two lines say the same.")),
            (
                not least <= len(labels) <= MOST_SECTIONS,
                _("Write %(least)s to %(most)s sections, so that every arm has two or more; here are %(found)s.")
                % {"least": least, "most": MOST_SECTIONS, "found": len(labels)},
            ),
        ]
        if sentences := [sentence for there, sentence in hindered if there]:
            form.error("sections", " ".join(sentences))
            return
        try:
            define(Spread().merged(self.document, value))
        except DefinitionError as error:
            form.error("sections", " ".join(problem.removeprefix("study: ") for problem in error.problems))

    def _questions_for_strata(self) -> list[tuple[str, str]]:
        """Background questions with a single choice, by name."""
        language = self.definition.languages[0]
        return [(question.name, question.text.in_language(language)) for question in self._single_choices]

    @property
    def _single_choices(self) -> list[SingleChoice | OrdinalScale]:
        return [question for question in self.definition.background if isinstance(question, SingleChoice | OrdinalScale)]

    def _require_possible_strata(self, form: DraftForm, strata: list[str]) -> None:
        sizes = {question.name: len(question.options) + 1 for question in self._single_choices}
        several = prod(sizes[name] for name in strata)
        if len(strata) > MOST_QUESTIONS:
            form.error("strata", _("Choose two questions at most."))
        elif several > MOST_STRATA:
            said = _("These questions make %(several)d strata; %(most)d is the most. Choose questions with fewer options.")
            form.error("strata", said % {"several": several, "most": MOST_STRATA})
        elif strata and any(form.line(f"arms.{arm.name}.quota") for arm in self.definition.arms):
            form.error("strata", _("Arms with a quota cannot be drawn within strata. Remove the quotas, or choose no question here."))

    def _weight(self, form: DraftForm, place: str) -> int | None:
        missing = _("Write a weight; 1 is the usual one.")
        return form.whole_number(place, what=_("The weight"), minimum=1, maximum=LARGEST_WEIGHT, missing=missing)

    def _multiples(self, form: DraftForm) -> list[int]:
        text = form.line("block_multiples", missing=_("Write at least one number, such as 1, 2, 3."))
        parts = [part for part in re.split(r"[\s,;]+", text) if part]
        wrong = next((part for part in parts if not re.fullmatch("[0-9]{1,2}", part, re.ASCII) or not 1 <= int(part) <= 20), None)
        if wrong is not None:
            form.error("block_multiples", _("Each number must be a whole one from 1 to 20, not “%(found)s”.") % {"found": wrong[:40]})
            return []
        return list(dict.fromkeys(map(int, parts)))

    def context_of(self, form: DraftForm) -> dict[str, object]:
        """The consequences of the typed values; of the draft, while they have mistakes."""
        trial = DraftForm(form.typed, languages=form.languages)
        value = self.read(trial)
        wrong = bool(trial.summary)
        definition = self.definition if wrong else define(Spread().merged(self.document, value))
        language = definition.languages[0]
        return {
            "schemes": SCHEMES,
            "units": UNITS,
            "strata": self._questions_for_strata(),
            "watching_modes": WATCHING,
            "arm_fields": [(arm.label.in_language(language), form.root["arms"][arm.name]) for arm in self.definition.arms],
            "subsample_fields": [(name, form.root["subsamples"][name]) for name in self.definition.die.subsamples],
            "sizes": _sizes(definition, language),
            "findable": findable(definition),
            "blocks": _blocks_in_words(definition),
            "of_the_draft": wrong,
        }


def _in_lines(labels: list[str]) -> str:
    """The labels one below the other; the number of sections that have no other names."""
    numbered = labels and labels == [str(number) for number in range(1, len(labels) + 1)]
    return str(len(labels)) if numbered else "\n".join(labels)


def _out_of_lines(text: str) -> list[str]:
    """The labels on the lines, or those of as many sections as the only line says."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) == 1 and re.fullmatch("[0-9]{1,3}", lines[0], re.ASCII):
        return [str(number) for number in range(1, int(lines[0]) + 1)]
    return lines


def _sizes(definition: StudyDefinition, language: str) -> dict[str, object]:
    """How many people each group should have in the end, by subsample and arm; those who are asked directly are a group of their own."""
    arms, groups = definition.arm_weights, definition.group_weights
    planned = definition.allocation.planned_participants
    whole = sum(arms.values()) * sum(groups.values())
    expected = {(group, arm): Fraction(planned * groups[group] * arms[arm], whole) for group, arm in product(groups, arms)}
    of_arm = {arm: sum((expected[one, arm] for one in groups), Fraction(0)) for arm in arms}
    most = sum(arm.quota or planned for arm in definition.arms)
    return {
        "planned": planned,
        "most": most,
        "arms": [arm.label.in_language(language) for arm in definition.arms],
        "rows": [(_("asked directly") if group == DIRECT else group, [float(expected[group, arm]) for arm in arms]) for group in groups],
        "totals": [float(one) for one in of_arm.values()],
        "short": [
            (arm.label.in_language(language), arm.quota, float(of_arm[arm.name]))
            for arm in definition.arms
            if most >= planned and arm.quota is not None and arm.quota < of_arm[arm.name]
        ],
    }


def _blocks_in_words(definition: StudyDefinition) -> str:
    """The length of blocks, or nothing when the list has none."""
    if definition.allocation.scheme != "permuted_block":
        return ""
    multiples = sorted(definition.allocation.block_multiples)
    words = {
        "subsamples": _listed([sum(definition.subsample_weights.values()) * multiple for multiple in multiples]),
        "arms": _listed([sum(definition.arm_weights.values()) * multiple for multiple in multiples]),
    }
    if definition.in_sections:
        said = _(
            "Chance gives each section its arm, so that each arm has as many sections as its weight says. Within a section, subsamples "
            "are drawn in blocks of %(subsamples)s people."
        )
        return said % words
    return _(
        "Subsamples are drawn in blocks of %(subsamples)s people, and within a subsample the arms in blocks of %(arms)s. "
    ) % words + _("How long a block is, chance decides anew each time, so that nobody can guess the last one in it.")


def _listed(sizes: list[int]) -> str:
    texts = [str(size) for size in sizes]
    return texts[0] if len(texts) == 1 else _("%(most)s or %(last)s") % {"most": ", ".join(texts[:-1]), "last": texts[-1]}
