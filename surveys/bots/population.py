"""The population of bots: background, true answers to each question in each arm, and behaviour towards the die."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from candor.designs.categories import TRUTH
from candor.planning.simulation import STRONGEST, Behaviour, LatentModel, SimulatedPerson, reported_answer
from surveys.bots.circles import draw_circle
from surveys.definition import StudyDefinition
from surveys.questions.background import (
    Circle,
    Date,
    Group,
    MultipleChoice,
    Number,
    Numeric,
    OrdinalScale,
    ShortText,
    Simple,
    SingleChoice,
    Slider,
)
from surveys.questions.sections import INTRACLASS_CORRELATION, SECTION
from surveys.questions.sensitive import SensitiveQuestion

Rng = np.random.Generator
WORDS = ("biology", "economics", "history", "mechanical engineering", "undecided")
"""The answers of bots to questions that ask for a few words."""
ATTENTIVE = 0.95
"""The share of bots who give the expected answer of an attention check; the others choose at random."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """Shares of bots who do not answer everything to the end.

    `agrees_to_direct` is the share who may be asked without a die, and `under_reports` the share who then deny a true yes.
    """

    declines: float = 0.03
    drops_out: float = 0.05
    leaves_blank: float = 0.1
    misunderstands: float = 0.15
    agrees_to_direct: float = 0.85
    under_reports: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """One simulated participant. `answers` are the form values of the background questions, by input name."""

    answers: Mapping[str, str | list[str]]
    standardised: Mapping[str, float]
    people: Mapping[str, SimulatedPerson]
    declines: bool
    drops_out_at: str | None
    misunderstands: bool
    agrees_to_direct: bool = True
    denies: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """The latent model of every sensitive question; a cheater cheats in all of them. `sections` has the place of each on the log-odds."""

    definition: StudyDefinition
    model: LatentModel
    habits: Habits
    sections: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        definition: StudyDefinition,
        *,
        prevalence: float,
        effect: float,
        cheater_proportion: float,
        behaviour: Behaviour,
        background_effect: float = 0.5,
        habits: Habits | None = None,
        intraclass_correlation: float = INTRACLASS_CORRELATION,
        seed: int = 0,
    ) -> "Population":
        """`effect` is the effect of every arm but the control; numbers and ordinal scales among the background questions shift the log-odds
        by `background_effect` per SD. Sections that are assigned as a whole shift them too, so that true answers of one section in the
        control arm have nearly this correlation; `seed` draws the shifts.
        """
        shifts = {question.name: background_effect for question in definition.asked if isinstance(question, Numeric | OrdinalScale)}
        if definition.in_sections and 0 < prevalence < 1:
            by_sections = (intraclass_correlation / (prevalence * (1 - prevalence))) ** 0.5
            shifts[SECTION] = min(by_sections, STRONGEST)
        return cls(
            definition=definition,
            model=LatentModel(
                prevalence=prevalence,
                effects={arm.name: effect for arm in definition.arms if arm.name != definition.control},
                cheater_proportion=cheater_proportion,
                cheater_behaviour=behaviour,
                background_effects=shifts,
            ),
            habits=habits or Habits(),
            sections=dict(zip(definition.sections, np.random.default_rng(seed).standard_normal(len(definition.sections)), strict=True)),
        )

    def draw(self, rng: Rng) -> Bot:
        first = self.model.draw_person(rng=rng)
        people = {
            question.name: SimulatedPerson(behaviour=first.behaviour, quantile=float(rng.random()))
            for question in self.definition.questions
        }
        answers: dict[str, str | list[str]] = {}
        standardised: dict[str, float] = {}
        for question in self.definition.asked:
            typed: dict[str, str | list[str]] = {}
            if isinstance(question, Number | Slider):
                value = _draw_number(question, rng)
                standardised[question.name] = (value - (question.minimum + question.maximum) / 2) / _spread(question)
                typed[question.name] = f"{value:.15g}"
            elif isinstance(question, OrdinalScale):
                chosen = str(_draw_answer(question, rng))
                scores = np.array(list(question.scores.values()))
                standardised[question.name] = float((question.scores[chosen] - scores.mean()) / scores.std())
                typed[question.name] = chosen
            elif isinstance(question, Circle):
                if rng.random() >= self.habits.leaves_blank:
                    friends, pairs = draw_circle(rng)
                    answers |= {f"{question.name}.friends": str(friends), f"{question.name}.pairs": str(pairs)}
                continue
            elif isinstance(question, Group):
                for row in range(int(rng.integers(0, question.at_most + 1))):
                    for field in question.fields:
                        answers |= _typed(field, f"{question.name}-{row}-{field.name}", rng)
            else:
                typed = _typed(question, question.name, rng)
            if rng.random() >= self.habits.leaves_blank:
                answers |= typed
        if self.sections:
            section = str(rng.choice(list(self.sections)))
            answers[SECTION], standardised[SECTION] = section, self.sections[section]
        leaves = rng.random() < self.habits.drops_out
        return Bot(
            answers=answers,
            standardised=standardised,
            people=people,
            declines=bool(rng.random() < self.habits.declines),
            drops_out_at=str(rng.choice(["background", "video", "die", "questions"])) if leaves else None,
            misunderstands=bool(rng.random() < self.habits.misunderstands),
            **(self._draw_directness(rng) if self.definition.direct_group else {}),
        )

    def _draw_directness(self, rng: Rng) -> dict[str, bool]:
        agrees, denies = rng.random(2) < (self.habits.agrees_to_direct, self.habits.under_reports)
        return {"agrees_to_direct": bool(agrees), "denies": bool(denies)}

    def reported(self, bot: Bot, *, question: str, arm: str, instruction: str, rng: Rng) -> bool:
        """The bot's answer, after a roll of its own die."""
        person = bot.people[question]
        truth = self.model.truth(person, arm=arm, background=bot.standardised)
        return reported_answer(truth, instruction=instruction, behaviour=person.behaviour, rng=rng)

    def chosen(self, bot: Bot, *, question: str, arm: str, instruction: str, rng: Rng) -> str:
        """The category that the bot gives, after a roll of its own die. Cheaters take the first one for no and the last one for yes."""
        person, names = bot.people[question], self._categories[question]
        truth = self.true_category(bot, question=question, arm=arm)
        match person.behaviour:
            case Behaviour.ALWAYS_NO:
                return names[0]
            case Behaviour.ALWAYS_YES:
                return names[-1]
            case Behaviour.RANDOM:
                return str(rng.choice(names))
            case Behaviour.OPPOSITE:
                return str(rng.choice([one for one in names if one != truth]))
            case Behaviour.REFUSE_FORCED_YES if instruction != TRUTH:
                return names[0]
            case Behaviour.REFUSE_FORCED_NO if instruction != TRUTH:
                return names[-1]
            case Behaviour.TRUTHFUL:
                return truth
            case _:
                return truth if instruction == TRUTH else instruction

    def true_category(self, bot: Bot, *, question: str, arm: str) -> str:
        """The category that is true of the bot."""
        person, names = bot.people[question], self._categories[question]
        limit = float(self.model.yes_probability(self._changed_by(arm, question), bot.standardised))
        place = -1 if person.quantile < limit else int((person.quantile - limit) / (1 - limit) * (len(names) - 1))
        return names[place]

    def planted(self, question: SensitiveQuestion, *, arm: str) -> tuple[float, ...]:
        """The shares of the true answers of honest bots, in the order of the categories: the last one is as frequent as a true yes, the
        others are equally frequent.
        """
        last, others = self.model.prevalence_in(self._changed_by(arm, question.name)), len(question.categories) - 1
        return (*((1 - last) / others for _ in range(others)), last)

    def sent(self, bot: Bot, *, question: str, arm: str, instruction: str, rng: Rng) -> str:
        """The value of the form for the bot's answer."""
        if question in self._categories:
            chosen = self.chosen(bot, question=question, arm=arm, instruction=instruction, rng=rng)
            return str(self._categories[question].index(chosen))
        return "1" if self.reported(bot, question=question, arm=arm, instruction=instruction, rng=rng) else "0"

    def _changed_by(self, arm: str, question: str) -> str:
        """The arm that decides the true answer: none changes that to a background question."""
        return self.definition.control if question in {one.name for one in self.definition.privatised_background} else arm

    @property
    def _categories(self) -> dict[str, tuple[str, ...]]:
        return {question.name: question.answers for question in self.definition.category_questions}

    def sent_directly(self, bot: Bot, *, question: str, arm: str) -> str:
        """The value of the form for the bot's direct answer. For a true category but the first one it may say the first one."""
        if question in self._categories:
            names = self._categories[question]
            return str(0 if bot.denies else names.index(self.true_category(bot, question=question, arm=arm)))
        return "1" if self.answered_directly(bot, question=question, arm=arm) else "0"

    def answered_directly(self, bot: Bot, *, question: str, arm: str) -> bool:
        """The bot's direct answer: the truth, unless it denies a true yes."""
        return self.model.truth(bot.people[question], arm=arm, background=bot.standardised) and not bot.denies


def _spread(question: Numeric) -> float:
    """Standard deviation of the uniform values that `_draw_number` gives."""
    if isinstance(question, Slider):
        return float(question.step * ((question.positions**2 - 1) / 12) ** 0.5)
    width = question.maximum - question.minimum
    return (((width + 1) ** 2 - 1) / 12) ** 0.5 if question.whole else width / 12**0.5


def _draw_number(question: Numeric, rng: Rng) -> float:
    if isinstance(question, Slider):
        return question.at(int(rng.integers(question.positions)))
    if question.whole:
        return float(rng.integers(int(question.minimum), int(question.maximum), endpoint=True))
    return round(float(rng.uniform(question.minimum, question.maximum)), 2)


def _typed(question: Simple | ShortText, name: str, rng: Rng) -> dict[str, str | list[str]]:
    """An answer as the inputs of the form called `name`."""
    answer = _draw_answer(question, rng)
    if not isinstance(question, Date):
        return {name: answer}
    parts = zip((f"{name}.year", f"{name}.month"), str(answer).split("-"), strict=False)
    return dict(parts)


def _draw_answer(question: Simple | ShortText, rng: Rng) -> str | list[str]:
    if isinstance(question, ShortText):
        return str(rng.choice(WORDS))[: question.longest]
    if isinstance(question, Date):
        return str(rng.choice(question.answers))
    if isinstance(question, Numeric):
        return f"{_draw_number(question, rng):.15g}"
    names = [option.name for option in question.options]
    if isinstance(question, SingleChoice | OrdinalScale) and question.expected and rng.random() < ATTENTIVE:
        return question.expected
    if isinstance(question, MultipleChoice):
        return [name for name in names if rng.random() < 0.5]
    return str(rng.choice(names))
