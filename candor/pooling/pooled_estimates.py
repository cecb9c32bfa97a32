"""`candor.pool`: the effects of several studies as one, each study with its own die, and their display."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from candor.arguments import names_in, numbers, switches
from candor.designs.design import Design
from candor.documents import InRows
from candor.errors import DataError, MethodError
from candor.figures.forest import ForestFigure, draw_forest, forest_svg
from candor.pooling.matching import Renamed, common_names, contrasts, own_names, studies_with, studies_with_contrast
from candor.pooling.pooled_contrasts import PooledContrast, PooledEstimand, StudyAnswer, pooled_contrast
from candor.pooling.pooled_text import forest_rows, pooled_html, pooled_text
from candor.pooling.studies import PooledStudy, StudySource, studies_of
from candor.results import Interval, OutcomeEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ONE_STUDY = "Not pooled, because one study alone has it: {what}."
DIFFERENT_TEXTS = "The studies asked in different words: {texts}. Whether that is one question is for you to say."
SIMULATED = "The data of {studies} are simulated: bots gave the answers, so these numbers say nothing about people."


def pool(
    studies: Sequence[StudySource] | Mapping[str, StudySource],
    *,
    outcomes: Sequence[str] = (),
    questions: Renamed | None = None,
    arms: Renamed | None = None,
    level: float = 0.95,
    simulated: bool = False,
    verify: bool = True,
    key: str | Path | bytes | None = None,
) -> PooledEstimates:
    """Pool the effects that several studies estimate, from their data packages.

    Parameters
    ----------
    studies : sequence or mapping of str to DataPackage, str or Path
        Two or more packages, or paths of them. Keys are the names of the studies; without keys, each is called as its protocol calls it.
    outcomes : sequence of str
        Questions to pool, by their common names. Default: all that two studies have.
    questions, arms : mapping of str to mapping of str to str, optional
        What is called otherwise in some study: by the common name, the study's own name by study, such as
        ``{"attention": {"second-study": "focus"}}``.
    level : float
        Nominal coverage of all intervals, strictly between 0 and 1.
    simulated : bool
        Accept packages with simulated data; the result says so.
    verify : bool
        Refuse a package that is not as it was signed.
    key : str, Path or bytes, optional
        PEM file, or its content, with the public keys of the servers, one after the other. Default: the key in each package, which proves
        less.

    Returns
    -------
    PooledEstimates
        One contrast of one question after the other. ``print`` shows tables, a notebook tables and the forest plot.

    Raises
    ------
    DataError
        When questions or arms do not match, when two packages are releases of one study, or when data are simulated.
    PackageError
        When a file is no package, or not as it was signed.
    OSError
        When there is no such file.

    Notes
    -----
    Every study is estimated again from its answers, with its own die and its own assumption about cheaters, by the efficient method; only
    estimates and standard errors are pooled. Δ = xτ can always be pooled. τ is pooled over the studies whose design determines it and whose
    honest share can be told from zero; the common effect by likelihood hears the others that determine it, too. docs/methods.md,
    “Several studies”, has the formulas.

    References
    ----------
    DerSimonian, R. & Laird, N. (1986). Meta-analysis in clinical trials. Controlled Clinical Trials 7, 177–188.
    Knapp, G. & Hartung, J. (2003). Improved tests for a random effects meta-regression with a single covariate. Statistics in Medicine 22,
    2693–2710.

    Examples
    --------
    ``candor.pool(["lecture-videos-1.zip", "seminar-videos-2.zip"], questions={"attention": {"seminar-videos": "focus"}})``

    >>> pool([])
    Traceback (most recent call last):
    candor.errors.DataError: pooling needs at least 2 studies, found 0
    """
    (level,), (simulated, verify) = numbers(level=level), switches(simulated=simulated, verify=verify)
    found = studies_of(studies, simulated=simulated, verify=verify, key=key)
    return _pooled(found, outcomes=names_in(outcomes, of="outcomes"), questions=questions or {}, arms=arms or {}, level=level)


def _pooled(
    studies: Mapping[str, PooledStudy], *, outcomes: Sequence[str], questions: Renamed, arms: Renamed, level: float
) -> PooledEstimates:
    asked = {name: list(study.answers) for name, study in studies.items()}
    designs = {name: study.design for name, study in studies.items()}
    there = {one: studies_with(one, asked=asked, renamed=questions) for one in common_names(asked, renamed=questions, what="question")}
    chosen = _several(there, wanted=outcomes, asked=asked)
    pairs = contrasts(designs, renamed=arms)
    lonely = [f"the question {one} ({', '.join(names)})" for one, names in there.items() if len(names) < 2 and not outcomes]
    found: list[PooledContrast] = []
    for question in chosen:
        own = own_names(question, studies=there[question], renamed=questions)
        estimated: dict[str, OutcomeEstimate] = {}
        for treatment, control in pairs:
            places = studies_with_contrast(treatment, control, designs={name: designs[name] for name in there[question]}, renamed=arms)
            if len(places) < 2:
                if places:
                    lonely.append(f"{question}, {treatment} − {control} ({', '.join(places)})")
                continue
            for name in places:
                if name not in estimated:
                    estimated[name] = _estimated(studies[name], own[name], level=level)
            answers = {
                name: StudyAnswer(answers=studies[name].answers[own[name]], outcome=estimated[name], contrast=place)
                for name, place in places.items()
            }
            texts = {name: studies[name].texts[own[name]] for name in places}
            notes = [DIFFERENT_TEXTS.format(texts="; ".join(f"{name}: “{text}”" for name, text in texts.items()))]
            found.append(
                pooled_contrast(
                    question,
                    treatment=treatment,
                    control=control,
                    studies=answers,
                    level=level,
                    notes=notes if len(set(texts.values())) > 1 else (),
                )
            )
    if not found:
        compared = "; ".join(f"{name} compares {', '.join(one.treatments)} with {one.control}" for name, one in designs.items())
        raise DataError(f"no two studies compare the same arms: {compared}. Say which arms are the same (arms=…, --arm)")
    bots = [name for name, study in studies.items() if study.simulated]
    notes = [SIMULATED.format(studies=", ".join(bots))] if bots else []
    notes += [ONE_STUDY.format(what="; ".join(dict.fromkeys(lonely)))] if lonely else []
    return PooledEstimates(designs=designs, contrasts=tuple(found), level=level, notes=tuple(notes))


def _several(there: Mapping[str, Sequence[str]], *, wanted: Sequence[str], asked: Mapping[str, Sequence[str]]) -> list[str]:
    """The questions to pool: the wanted ones, or all that two studies have."""
    have = "; ".join(f"{name} asks {', '.join(names)}" for name, names in asked.items())
    for question in wanted:
        if len(there.get(question, ())) < 2:
            found = ", ".join(there.get(question, ())) or "no study"
            raise DataError(
                f"question {question!r}: two studies are needed, but it is asked in {found}: {have}. Say which questions are the same "
                "(questions=…, --question)"
            )
    chosen = list(dict.fromkeys(wanted)) or [question for question, names in there.items() if len(names) > 1]
    if not chosen:
        raise DataError(f"no two studies asked the same question: {have}. Say which are the same (questions=…, --question)")
    return chosen


def _estimated(study: PooledStudy, question: str, *, level: float) -> OutcomeEstimate:
    try:
        return study.answers[question].estimate(level=level)
    except MethodError as error:
        raise DataError(f"study {study.name!r}, question {question!r}: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PooledEstimates(InRows):
    """The result of `candor.pool`: a `PooledContrast` for each question and contrast.

    Attributes
    ----------
    designs : mapping of str to Design
        By study.
    contrasts : tuple of PooledContrast
    level : float
        Nominal coverage of all intervals.
    notes : tuple of str
        About all of it.
    """

    designs: Mapping[str, Design]
    contrasts: tuple[PooledContrast, ...]
    level: float
    notes: tuple[str, ...]

    def __getitem__(self, question: str) -> PooledContrast:
        """The first contrast of a question."""
        return next(one for one in self.contrasts if one.question == question)

    def __str__(self) -> str:
        return pooled_text(self.contrasts, level=self.level, notes=self.notes)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Tables and the forest plot, for notebooks."""
        return pooled_html(self.contrasts, level=self.level, notes=self.notes) + str(self.plot())

    def to_dict(self) -> dict[str, object]:
        """The document of ``candor pool --format json``, as plain values: numbers unrounded, None for what is undefined."""
        document = {
            "studies": {name: {"design": design.to_document()} for name, design in self.designs.items()},
            "level": self.level,
            "contrasts": [asdict(one) for one in self.contrasts],
            "notes": self.notes,
        }
        plain: dict[str, object] = json.loads(json.dumps(document, allow_nan=False))
        return plain

    def rows(self) -> list[dict[str, object]]:
        """One row per question, contrast, estimand and study, then the pooled ones, as plain values; undefined values are None."""
        return [
            {"question": one.question, "treatment": one.treatment, "control": one.control, "estimand": estimand.estimand, **row}
            for one in self.contrasts
            for estimand in (one.effect, one.honest_times_effect)
            for row in _rows(estimand)
        ]

    def plot(self, axes: Axes | None = None) -> ForestFigure | Axes:
        """The forest plot of the effects: an SVG document that displays itself in a notebook, or drawn on matplotlib axes."""
        rows = forest_rows(self.contrasts)
        title = f"Effects of each study and of all, {100 * self.level:g} % intervals"
        return ForestFigure(forest_svg(rows, title=title)) if axes is None else draw_forest(rows, axes=axes, title=title)


def _rows(estimand: PooledEstimand) -> list[dict[str, object]]:
    def row(
        study: str, n: int | None, value: float | None, error: float | None, ends: Interval | None, **weights: float | None
    ) -> dict[str, object]:
        low, high = (None, None) if ends is None else (ends.low, ends.high)
        found = {"study": study, "n": n, "value": value, "standard_error": error, "interval_low": low, "interval_high": high}
        return {**found, "fixed_weight": weights.get("fixed"), "random_weight": weights.get("random")}

    rows = [
        row(one.study, one.n, one.value, one.standard_error, one.interval, fixed=one.fixed_weight, random=one.random_weight)
        for one in estimand.studies
    ]
    if (found := estimand.pooled) is not None:
        for name, pooled in (("(fixed effect)", found.fixed), ("(random effects)", found.random)):
            rows.append(row(name, None, pooled.value, pooled.standard_error, pooled.interval))
        rows.append(row("(a further study)", None, found.random.value, None, found.prediction)) if found.prediction else None
    if (common := estimand.common) is not None:
        rows.append(row("(common effect, likelihood)", None, common.value, None, common.interval))
    return rows
