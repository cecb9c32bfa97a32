"""`candor.diagnose`: what a design finds when people cheat and leave."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

from candor.arguments import effects_of, names_in, numbers, path_of, whole_numbers, whole_or_none
from candor.designs.sources import DesignSource, read_planned_design
from candor.diagnosis.diagnose import Plan, settings_for, settings_of
from candor.diagnosis.kept import KeptDiagnosis, keep
from candor.diagnosis.people import Cheating, DropOut, Expected, Setting
from candor.diagnosis.tallies import Found, Number, Tally
from candor.errors import MethodError, what_came
from candor.figures.tables import paragraph, table

EXPLAINED = (
    "Each setting was simulated {studies} times with {n} people; in brackets the Monte-Carlo error of the last digits shown. {truth} "
    "Region is the share of studies whose likelihood region at {level:g} %, the headline, holds the effect; coverage is that of the "
    "{interval} interval; power is the share of studies that reject no effect, wrong sign the share "
    "of those that do so in the wrong direction, noticed the share whose specification test says at 5 % that the model does not fit."
)
EXPLAINED_OF_SURVEYS = (
    "Each setting was simulated {studies} times with {n} people; in brackets the Monte-Carlo error of the last digits shown. {truth} "
    "Coverage is that of the {interval} interval at {level:g} %; noticed is the share whose specification test says at 5 % that the model "
    "does not fit."
)
EXPLAINED_OF_SECTIONS = (
    "Each setting was simulated {studies} times with {n} people in {sections} sections, of which two people have true answers with a "
    "correlation of {icc:g}; in brackets the Monte-Carlo error of the last digits shown. {truth} Coverage is that of the {interval} "
    "interval at {level:g} %, with Student's t and between sections; power is the share of studies that reject no effect, wrong sign the "
    "share of those that do so in the wrong direction."
)
OF_THE_EFFECT = "Bias is that of the effect among honest people."
OF_THE_PREVALENCE = "Bias is that of the prevalence among honest people, which a survey estimates."
OF_DELTA = "The design does not identify the effect: bias and coverage are those of honest share times effect."


def diagnose(
    design: DesignSource,
    *,
    n: int,
    effects: float | Mapping[str, float] = 0.0,
    prevalence: float = 0.4,
    cheater_proportion: float = 0.1,
    drop_out: float = 0.1,
    cluster_size: float = 1,
    intraclass_correlation: float = 0.0,
    cheating: Sequence[str] = tuple(Cheating),
    leaving: Sequence[str] = tuple(DropOut),
    studies: int = 4000,
    level: float = 0.95,
    seed: int | None = None,
    resume: str | Path | None = None,
    progress: Callable[[int], object] = lambda done: None,
) -> Diagnosis:
    """Simulate a design under plausible ways to cheat and to leave, and say what its estimates are worth in each.

    Parameters
    ----------
    design : Design, mapping, str or Path
        See `candor.read_design`.
    n : int
        People who are assigned to an arm.
    effects : float or mapping of str to float
        Difference of prevalence to control among honest people: the same for all treatment arms, or by arm (others 0). A survey has none.
    prevalence : float
        Share of true "yes" in the control arm.
    cheater_proportion : float
        Share of cheaters, where anybody cheats; below 1.
    drop_out : float
        Share of those who may leave who do, where anybody leaves.
    cluster_size : float
        People in a section that is assigned as a whole; 1 where people are assigned one by one.
    intraclass_correlation : float
        How alike the true answers of two people of a section are, in [0, 1].
    cheating : sequence of str
        Ways to cheat: ``none``, ``always_no``, ``random``, ``opposite``, ``refuse_forced_yes``, ``truthful``, ``arm_dependent`` (no in the
        control arm, at random in the others; not in a survey).
    leaving : sequence of str
        Ways to leave: ``none``, ``anybody``, ``treated`` (people of treatment arms), ``treated_yes`` (those of them with a true "yes"). In
        a survey everybody counts as treated, and ``treated`` is left out as the same as ``anybody``.
    studies : int
        Simulated studies for each pair of these, at most 100,000.
    level : float
        Confidence level.
    seed : int, optional
        The same seed gives the same numbers. Default: a fresh one, which the result names.
    resume : str or Path, optional
        A file that is written while studies are simulated, and from which the same diagnosis goes on; it brings its seed.
    progress : callable
        Is told, again and again, how many more studies were simulated.

    Returns
    -------
    Diagnosis
        ``rows`` holds the numbers, each with its Monte-Carlo error; ``print`` shows them as a table.

    Raises
    ------
    DesignError
        When the design cannot be read.
    MethodError
        When an expectation is impossible, or a survey's design leaves the prevalence open.
    DataError
        When `resume` is a file of something else, or of another diagnosis.

    References
    ----------
    Blair, G., Cooper, J., Coppock, A. & Humphreys, M. (2019). Declaring and diagnosing research designs. American Political Science Review
    113, 838–859. See `candor.diagnosis.tallies.simulate`.

    Examples
    --------
    People who report the opposite of the truth pull the mirrored design towards no effect: with a tenth of them from .2 to .16.

    >>> found = diagnose({"arms": ["control", "treatment"], "control": "control", "subsamples": {
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}},
    ...     n=20_000, effects=0.2, cheating=["none", "opposite"], leaving=["none"], studies=500, seed=1)
    >>> [(str(setting.cheating), round(one.bias.value, 2)) for setting, (one,) in found.rows]
    [('none', 0.0), ('opposite', -0.04)]
    """
    effects, (n, studies), (seed,) = effects_of(effects), whole_numbers(n=n, studies=studies), whole_or_none(least=0, seed=seed)
    prevalence, cheater_proportion, drop_out, level = numbers(
        prevalence=prevalence, cheater_proportion=cheater_proportion, drop_out=drop_out, level=level
    )
    cluster_size, intraclass_correlation = numbers(cluster_size=cluster_size, intraclass_correlation=intraclass_correlation)
    cheating, leaving = names_in(cheating, of="cheating", what="names"), names_in(leaving, of="leaving", what="names")
    found = read_planned_design(design, cluster_size=cluster_size)
    by_arm = dict(effects) if isinstance(effects, Mapping) else dict.fromkeys(found.treatments, effects)
    if unknown := sorted(set(by_arm) - set(found.treatments)):
        raise MethodError(f"there is no treatment arm {unknown[0]!r}; the design has {', '.join(map(repr, found.treatments))}")
    file = None if resume is None else path_of(resume, of="resume")
    kept = None if file is None else KeptDiagnosis.read(file)
    fresh = secrets.randbits(32) if kept is None else kept.seed
    plan = Plan(
        design=found,
        expected=Expected(
            n=n,
            prevalence=prevalence,
            effects=tuple(by_arm.get(arm, 0.0) for arm in found.treatments),
            cheater_proportion=cheater_proportion,
            drop_out=drop_out,
            cluster_size=cluster_size,
            intraclass_correlation=intraclass_correlation,
        ),
        settings=settings_for(found, _settings(cheating, leaving)),
        studies=studies,
        seed=fresh if seed is None else seed,
        level=level,
    )
    begun, tallies = 0, dict[int, Tally]()
    if file and kept:
        kept.require(plan, path=file)
        begun, tallies = kept.done, dict(kept.tallies)
        progress(sum(size for _setting, _part, size in plan.parts[:begun]))
    for done, so_far in plan.carry_on(tallies, done=begun):
        tallies = so_far
        if file:
            keep(file, plan, done=done, tallies=tallies)
        progress(plan.parts[done - 1][2])
    return Diagnosis(plan=plan, rows=plan.rows(tallies))


def _settings(cheating: Sequence[str], leaving: Sequence[str]) -> tuple[Setting, ...]:
    for given, known in ((cheating, Cheating), (leaving, DropOut)):
        if wrong := [one for one in given if one not in list(known)]:
            raise MethodError(f"expected one of {', '.join(known)}, found {what_came(wrong[0])}")
        if not given:
            raise MethodError(f"expected at least one of {', '.join(known)}, found none")
    return settings_of(tuple(dict.fromkeys(cheating)), tuple(dict.fromkeys(leaving)))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Diagnosis:
    """Every setting with what it does to each contrast."""

    plan: Plan
    rows: tuple[tuple[Setting, tuple[Found, ...]], ...]

    def __str__(self) -> str:
        design, sections = self.plan.design, self.plan.sections
        identified = design.is_survey or design.identification.effect
        words = (EXPLAINED_OF_SURVEYS if design.is_survey else EXPLAINED if sections is None else EXPLAINED_OF_SECTIONS).format(
            studies=self.plan.studies,
            n=self.plan.expected.n,
            sections=sections,
            icc=self.plan.expected.intraclass_correlation,
            truth=OF_THE_PREVALENCE if design.is_survey else OF_THE_EFFECT if identified else OF_DELTA,
            interval="Fieller" if identified else "Wald",
            level=100 * self.plan.level,
        )
        columns: dict[str, Callable[[Found], Number]] = {
            "bias": lambda one: one.bias,
            "spread": lambda one: one.spread,
            **({"region": lambda one: one.region} if sections is None else {}),
            "coverage": lambda one: one.coverage,
            "no end": lambda one: one.unbounded,
            **({} if design.is_survey else {"power": lambda one: one.power, "wrong sign": lambda one: one.wrong_sign}),
            **({"noticed": lambda one: one.contradicted} if sections is None else {}),
        }
        header = ["cheaters", "who leaves", "arm" if design.is_survey else "contrast", *columns]
        rows = [
            [
                setting.cheating.replace("_", " "),
                setting.drop_out.replace("_", " "),
                one.treatment if design.is_survey else f"{one.treatment} − {design.control}",
                *(_with_error(number(one)) for number in columns.values()),
            ]
            for setting, found in self.rows
            for one in found
        ]
        return "\n".join([paragraph(words), "", table(header, rows), "", f"seed {self.plan.seed}"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, object]:
        """The document of ``candor diagnose --format json``, as plain values."""
        document = {
            "design": self.plan.design.to_document(),
            "expected": asdict(self.plan.expected),
            "studies": self.plan.studies,
            "level": self.plan.level,
            "seed": self.plan.seed,
            "identified": self.plan.design.identification.effect,
            "settings": [{**asdict(setting), "contrasts": [asdict(one) for one in found]} for setting, found in self.rows],
        }
        plain: dict[str, object] = json.loads(json.dumps(document, allow_nan=False))
        return plain


def _with_error(number: Number) -> str:
    """A number with its Monte-Carlo error in units of its last digit: 0.804(6)."""
    if number.value is None or number.error is None:
        return "—"
    return f"{number.value:.3f}({max(round(1000 * number.error), 1)})"
