"""The builder's die designer: turning faces shows at once their effect on privacy and identification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.planning.faces import NO, YES, PlannedDie, rolls_of
from analysis.planning.forms import GROUPS, WEIGHTS, read_die, read_plan
from analysis.planning.front import Front, address_with, front_of
from analysis.planning.page import dice_offered, groups_of
from analysis.planning.plans import make_plan
from analysis.planning.starts import start_of
from candor.designs.design import Design
from candor.errors import MethodError
from candor.written_numbers import typed_number
from surveys.allocation.findable import too_few
from surveys.builder.frame import LookingPage
from surveys.definition import StudyDefinition
from surveys.drafting.categories import fitted
from surveys.drafting.edits import Edit, Keys, fingerprint_of
from surveys.drafting.forms import DraftForm, Typed, typed_value
from surveys.languages.labels import whole_sentence
from surveys.privacy.words import certainty, loss_in_words, privacy_in_words
from surveys.questions.sensitive import Die
from surveys.study_file import document_of

COMMON_DICE = ("4", "6", "8", "10", "12", "20")
OTHER = "other"
MODELS = (
    ("any", gettext_lazy("anything, at any rate")),
    ("always_no", gettext_lazy("always no")),
    ("always_yes", gettext_lazy("always yes")),
    ("share", gettext_lazy("yes at the rate below")),
    ("unknown", gettext_lazy("I do not know")),
)
TYPED = ("die", "sides", *GROUPS, *WEIGHTS, "model", "share")


@dataclass(frozen=True, slots=True, kw_only=True)
class DieFacts:
    """The consequences of a die under an assumption on cheaters; `problem` when it cannot be used at all."""

    problem: str = ""
    epsilon: str = ""
    epsilon_total: str = ""
    certainty: str = ""
    certainty_total: str = ""
    questions: int = 0
    cheaters_identified: bool = False
    effect_identified: bool = False
    prevalence_identified: bool = False
    assumption: str = ""
    privacy: tuple[str, ...] = ()
    of_categories: tuple[tuple[str, str], ...] = ()
    """The questions with named answers, each with its ε on this die."""


class DieDesigner(LookingPage):
    part = "die"
    template_name: ClassVar[str] = "analysis/planning/designer.html"

    def edit(self) -> Edit:
        return Keys(("die", "questions") if self.definition.category_questions else ("die",))

    def get(self, request: HttpRequest, **arguments: object) -> HttpResponse:
        """The draft's die, or one that comes in the address from the design page, to be saved or not."""
        asked = {name: request.GET[name] for name in TYPED if name in request.GET}
        if asked.get("model") not in dict(MODELS):
            asked.pop("model", None)
        typed = self.typed() | asked
        form = DraftForm(typed, languages=self.definition.languages)
        return self._shown(form, loaded=fingerprint_of(self.edit().current(self.document)))

    def typed(self) -> Typed:
        die, cheaters = start_of(self.definition).die, self.definition.die.cheaters
        rate = cheaters if isinstance(cheaters, float | int) else None
        share = "" if rate is None else typed_value(round(rate * 100, 6))
        return {"sides": "", **die.texts, "model": "share" if rate is not None else str(cheaters or "any"), "share": share}

    def read(self, form: DraftForm) -> object:
        die = self._die(form)
        cheaters: str | float | None = form.choice("model", [name for name, _label in MODELS], missing=_("Choose what you assume."))
        if cheaters == "share":
            words = _("Write how many of 100 say yes.")
            rate = form.number("share", what=_("The share"), minimum=0, maximum=100, missing=words)
            cheaters = None if rate is None else rate / 100
        elif cheaters == "any" and self.definition.die.cheaters is None:
            cheaters = None
        if form.errors:
            return {}
        definition, problem = _with_die(self.definition, die, cheaters)
        if definition is None:
            form.error("die", problem)
            return {}
        document = document_of(definition)
        return {key: document[key] for key in self.edit().current(document)}

    def _die(self, form: DraftForm) -> PlannedDie:
        """The die in the form, after the button that was pressed, with a sentence when it is none."""
        typed = {name: value for name in TYPED if isinstance(value := form.typed.get(name), str)}
        if typed.get("die") == OTHER:
            typed["die"] = typed.get("sides", "").strip()
        now = start_of(self.definition).die
        if not typed.get("die", now.code).isdecimal():
            form.error("die", _("A die on the screen has 3 to 100 equally likely sides; write how many."))
            return now
        die, error, _is_new = read_die(typed, now)
        if error:
            form.error("die", error)
        change = form.typed.get("change", "")
        return (die.after(change) if isinstance(change, str) else None) or die

    def context_of(self, form: DraftForm) -> dict[str, object]:
        trial = DraftForm(form.typed, languages=form.languages)
        self.read(trial)
        die = self._die(DraftForm(form.typed, languages=form.languages))
        problems = dict(trial.errors)
        is_other = form.typed.get("die") == OTHER
        return {
            "designer": {"other": is_other and "die" in problems, "sides": form.typed.get("sides", "")},
            "planned": {"die_error": problems.get("die", "")},
            "form": {"die": die},
            "dice_offered": dice_offered(die, COMMON_DICE),
            "groups": tuple(groups_of(die, tuple(self.definition.die.subsamples), typed=self._weights_as_typed(form))),
            "models": MODELS,
            "facts": _facts(self.definition, die, trial),
            "die_query": urlencode(die.texts),
            "front": None if self.definition.is_survey else self._front(form, die),
            "is_survey": self.definition.is_survey,
            "few_people": too_few(self.definition),
        }

    def _front(self, form: DraftForm, die: PlannedDie) -> Front:
        """The designs to choose from, with the expectations from which the Plan page starts; their links keep the assumption."""
        start = start_of(self.definition)
        planned = make_plan(read_plan(QueryDict(urlencode(die.texts)), start))
        kept = {name: text for name in ("model", "share") if isinstance(text := form.typed.get(name), str)}
        return front_of(planned, address_with(kept))

    def _weights_as_typed(self, form: DraftForm) -> tuple[str, ...]:
        return tuple(text if isinstance(text := form.typed.get(name, ""), str) else "" for name in WEIGHTS)


def _with_die(definition: StudyDefinition, die: PlannedDie, cheaters: str | float | None) -> tuple[StudyDefinition | None, str]:
    """The study with this die, or why it cannot have it."""
    names = tuple(definition.die.subsamples)
    names = names if len(names) == len(die.groups) else tuple(str(number) for number in range(1, len(die.groups) + 1))
    faces = {name: _faces(die.code, letters) for name, letters in zip(names, die.groups, strict=True)}
    weights = {name: weight for name, weight in zip(names, die.weights, strict=True) if weight != 1}
    for name, forced in zip(names, die.forced_responses(), strict=True):
        if forced.forced_yes == 0 or forced.forced_no == 0:
            return None, _("Subsample %(name)s: give at least one face to yes and one to no; else an answer gives away what is true.") % {
                "name": name
            }
        if forced.truth == 0:
            return None, _("Subsample %(name)s: leave at least one face for the truth; else the answers tell nothing.") % {"name": name}
    if len(set(die.forced_responses())) == 1:
        return None, _("The subsamples must differ in how often they say yes or no; else nothing tells cheaters apart.")
    designed = Die.model_validate({"sides": int(die.code), "subsamples": faces, "weights": weights, "cheaters": cheaters})
    try:
        designed_for = fitted(definition.questions, designed, before=definition.die)
        changed = definition.model_copy(update={"die": designed, "questions": designed_for})
        changed.design()
    except MethodError as error:
        return None, whole_sentence(error)
    return changed, ""


def _faces(code: str, letters: str) -> dict[str, list[int]]:
    rolls = list(rolls_of(code))
    said = {answer: [roll for roll, letter in zip(rolls, letters, strict=True) if letter == answer] for answer in (YES, NO)}
    return {"yes": said[YES], "no": said[NO]}


def _facts(definition: StudyDefinition, die: PlannedDie, trial: DraftForm) -> DieFacts:
    """Everything is computed by the methods; the page only says it."""
    if trial.errors:
        return DieFacts(problem=next(iter(trial.errors.values())))
    model = trial.line("model")
    cheaters = float(typed_number(trial.line("share")) or 0) / 100 if model == "share" else model
    changed, problem = _with_die(definition, die, cheaters)
    if changed is None:
        return DieFacts(problem=problem)
    design: Design = changed.design()
    identification, questions = design.identification, len(definition.questions)
    total = changed.epsilon_total
    return DieFacts(
        epsilon=loss_in_words(design.epsilon),
        epsilon_total=loss_in_words(total),
        certainty=certainty(design.epsilon),
        certainty_total=certainty(total),
        questions=questions,
        cheaters_identified=identification.honest_proportion,
        effect_identified=identification.effect,
        prevalence_identified=identification.prevalence,
        assumption=identification.assumption,
        privacy=privacy_in_words(changed.epsilon, questions=questions, total=total),
        of_categories=tuple(
            (one.text.in_language(changed.languages[0]), loss_in_words(changed.epsilons[one.name])) for one in changed.category_questions
        ),
    )
