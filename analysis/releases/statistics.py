"""The statistics with noise in a public release, for its page: difficulties, answers, and the ledger that paid for them."""

import json
from dataclasses import dataclass

from django.utils.translation import get_language

from analysis.figures.shown import ShownFigure
from analysis.ledger.errors import QuestionError
from analysis.ledger.page import STATES, cost_in_words
from analysis.ledger.questions import AnswerTable, Question, read_question
from analysis.ledger.selectors import asked_before, budget_of
from analysis.models import Release
from analysis.packages.stored import stored_archive
from analysis.releases.selectors import not_covered_in_public
from analysis.sources.selectors import schema_of_snapshot, source_of
from analysis.sources.tables import Schema
from candor.packages.analytics import ANALYTICS, PublishedCharge, PublishedDifficulties, PublishedItem
from candor.privacy.losses import Loss
from surveys.privacy.budgets import in_how_many
from surveys.privacy.words import certainty, loss_in_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """A charge of the ledger as the package has it. `table`: its answer; empty where there is none, or where it is shown otherwise."""

    number: int
    sentence: str
    cost: str
    state: str
    reason: str
    table: AnswerTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """`epsilon` of `budget`, at `delta`, was spent. `sure`: the most that anybody can become of something that a participant told."""

    n: int
    epsilon: str
    delta: str
    budget: str
    sure: str
    charges: list[Charged]
    difficulties: PublishedDifficulties | None
    items: list[PublishedItem]
    figure: ShownFigure | None
    exactly: list[str]

    @property
    def answers(self) -> list[Charged]:
        return [one for one in self.charges if one.table.rows]


def statistics_of(release: Release) -> Statistics | None:
    """The content of analytics.json in a public release, with the labels of the study; None where it has none."""
    from analysis.figures.difficulties import difficulties_figure, hardest_first

    if ANALYTICS not in [file["name"] for file in release.files] or (source := source_of(release.study)) is None:
        return None
    archive = stored_archive(Release.objects.filter(pk=release.pk))
    if archive is None:
        return None
    with archive as files:
        document = json.loads(files.read(ANALYTICS))
    snapshots = {one.charge.number: one.charge.snapshot for one in asked_before(budget_of(source))}
    charges = [_charged(charge, schema_of_snapshot(source, snapshots[charge["number"]])) for charge in document["charges"]]
    released = [one["answer"] for one in document["charges"] if one["question"].get("kind") == "difficulties" and one["answer"]]
    difficulties, language = released[-1] if released else None, get_language() or "en"
    return Statistics(
        n=document["participants"],
        epsilon=loss_in_words(document["spent"]["epsilon"]),
        delta=_rarity(document["budget"]["delta"]),
        budget=loss_in_words(document["budget"]["epsilon"]),
        sure=certainty(document["spent"]["epsilon"]),
        charges=charges,
        difficulties=difficulties,
        items=hardest_first(difficulties, language) if difficulties else [],
        figure=difficulties_figure(difficulties, language) if difficulties else None,
        exactly=not_covered_in_public(release.study),
    )


def _charged(charge: PublishedCharge, schema: Schema) -> Charged:
    question: Question | None
    try:
        question = read_question(charge["question"])
    except QuestionError:  # of a kind that this version of Candor does not know
        question = None
    return Charged(
        number=charge["number"],
        sentence=question.sentence(schema) if question else charge["sentence"],
        cost=cost_in_words(Loss(charge["rho"], charge["pure_epsilon"])),
        state=str(STATES[charge["state"]]),
        reason=charge["reason"],
        table=question.table(charge["answer"], schema) if question and charge["answer"] else AnswerTable(),
    )


def _rarity(delta: float) -> str:
    """The number of cases in which one may fail, as a share."""
    return f"1/{in_how_many(delta)}" if delta else "0"
