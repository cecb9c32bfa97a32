"""A release's promises to the people whose answers are in it, and their limits, in plain words with the numbers."""

from collections.abc import Iterator, Sequence

from analysis.packages.content import Content
from candor.designs import privacy_words
from candor.packages.documents import PromisedRecords
from candor.sentences import Sentence, found_among
from candor.sentences import sentence as _

WITH_WORDS_OF_A_STUDY = (
    "Effects by the answers to “%(question)s”, and how many people gave each. Those who run the study see them.",
    "Counts or records of background answers in a data package. The reason: %(reason)s",
)
"""The sentences on what a budget does not cover that quote somebody. A page translates what stands around the quotation."""


def privacy_statement(content: Content) -> list[Sentence]:
    """Privacy loss of this release, and of everything that can be computed from it, for files and pages alike: first what it means, then
    how and how much, then formally, and last what it does not cover.
    """
    epsilon, total = privacy_words.loss(max(content.epsilons)), privacy_words.loss(content.epsilon_total)
    questions = len(content.epsilons)
    differ = len(set(content.epsilons)) > 1
    each = _("%(epsilon)s for each answer at most", epsilon=epsilon) if differ else _("%(epsilon)s for each answer", epsilon=epsilon)
    return [
        _meaning(content),
        _(
            "Mechanism: randomised response by a private die that is rolled once for each question and never leaves the participant. This "
            "is local differential privacy: the protection was complete before anything was sent."
        ),
        _("ε = %(each)s, %(total)s for the one question.", each=each, total=total)
        if questions == 1
        else _("ε = %(each)s, %(total)s for all %(questions)s questions together.", each=each, total=total, questions=questions),
        _(
            "One roll for each question, so losses add: %(sum)s = %(total)s. Results, other versions of this release and anything else "
            "computed from the same reported answers add nothing. A further question that is released later adds %(more)s.",
            sum=_sum(content),
            total=total,
            more=_("its own loss") if content.category_questions else epsilon,
        ),
        *_privatised_background(content),
        _(
            "Formally, the unit of protection is one participant: neighbours are two versions of the study that differ in the true answers "
            "of one participant, whatever they are."
        ),
        *_not_covered(content),
    ]


def _privatised_background(content: Content) -> Iterator[Sentence]:
    if found := content.privatised_background:
        yield _(
            "Among these questions are background questions that were privatised in the browser, by the same die: %(names)s. Their losses "
            "are in the sum.",
            names=", ".join(one["name"] for one in found),
        )


def _meaning(content: Content) -> Sentence:
    questions = len(content.epsilons)
    one = Sentence(privacy_words.AFTER_ONE, {"sure": f"{privacy_words.certainty(max(content.epsilons))} %"})
    if questions == 1:
        return _joined([one, Sentence(privacy_words.ONLY_ONE, {})])
    sure = f"{privacy_words.certainty(content.epsilon_total)} %"
    return _joined([one, Sentence(privacy_words.AFTER_ALL, {"questions": questions, "sure": sure})])


def _sum(content: Content) -> Sentence:
    """The losses that add up; yes/no questions share one."""
    yes_no = len(content.questions)
    of_yes_no = [Sentence("%(n)s × %(epsilon)s", {"n": yes_no, "epsilon": privacy_words.loss(content.epsilon)})] if yes_no else []
    others = [Sentence("%(epsilon)s", {"epsilon": privacy_words.loss(one)}) for one in content.epsilons[yes_no:]]
    return _joined([*of_yes_no, *others], between=" + ")


def _not_covered(content: Content) -> Iterator[Sentence]:
    yield _("That somebody took part, and finished, is not hidden by the die; arm and subsample are chance and say nothing about a person.")
    yield _("People who told the truth against the die gave up their own protection.")
    if direct := content.protocol["direct_group"]:
        yield _(
            "Some people (a share of %(share)s was drawn) were asked without a die. Neither they nor what they said are in this release.",
            share=str(direct["share"]),
        )
    if content.in_sections and any(row.cluster for row in content.rows):
        yield _(
            "Sections were assigned as a whole. Each has a random number in the data, and ten people or more in every subsample. People "
            "who know how large the sections are can guess which number is which; the die stands between every report and the truth."
        )
    elif content.in_sections:
        yield _(
            "Sections were assigned as a whole. The data do not tell who was in which section, because some have fewer than ten people in "
            "a subsample; so nobody can compute standard errors from them."
        )
    if budget := content.protocol.get("privacy_budget"):
        yield _(
            "The study has a privacy budget for background and quiz answers: ε = %(epsilon)s, δ = %(delta)s. It does not cover what the "
            "study shows exactly: %(exactly)s",
            epsilon=f"{budget['epsilon']:g}",
            delta=f"{budget['delta']:g}",
            exactly=_joined([found_among(WITH_WORDS_OF_A_STUDY, said) or Sentence(said, {}) for said in budget["not_covered"]]),
        )
    if reason := content.reason_for_exact_counts:
        yield (
            _(
                "Counts of background answers are exact in this release, outside of the study's privacy budget. The reason: %(why)s",
                why=reason,
            )
            if content.records is None
            else _(
                "Records of background answers are in this release, outside of the study's privacy budget. The reason: %(why)s", why=reason
            )
        )
    if (ledger := content.analytics) is not None:
        yield _(
            "The statistics in analytics.json are not protected by the die but by noise. Together they are (%(epsilon)s, %(delta)s)-"
            "differentially private: neighbours differ in everything that one participant told, and the number of participants, "
            "%(participants)s, is public. Asking more, within the budget, adds to it.",
            epsilon=privacy_words.loss(ledger["spent"]["epsilon"]),
            delta=f"{ledger['budget']['delta']:g}",
            participants=ledger["participants"],
        )
    elif content.records is not None:
        yield from _of_records(content.protocol["records"])
    elif content.background is None:
        yield _("Background and quiz answers are not in this release.")
    else:
        yield _(
            "The counts of background answers are exact and not differentially private. They are over everybody at once, one question at a "
            "time, never joined with reported answers, and counts below %(smallest)s are hidden, with as many others as are needed so that "
            "no sum gives them back. Quiz answers are not in this release.",
            smallest=content.smallest_count,
        )


def _of_records(promised: PromisedRecords) -> Iterator[Sentence]:
    """The rules that protected records keep, and the choices that change what they tell."""
    shared = _(
        "Answers keep their ε; background is protected syntactically only. Background answers are published as records: at least %(k)s "
        "people share everything that is told of each but sensitive values, arm, subsample and reported answers.",
        k=promised["k"],
    )
    if promised["l"]:
        levels = [_("%(level)s of %(name)s", level=level, name=name) for name, level in promised["l"].items()]
        diverse = _(
            "Among those who look alike, no sensitive value is commoner than one in ℓ: %(levels)s.", levels=_joined(levels, between=", ")
        )
        shared = _joined([shared, diverse])
    yield shared
    if auxiliary := promised.get("auxiliary"):
        yield _("An officer confirmed by name that these are published as they are: %(names)s.", names=", ".join(auxiliary))
    if labels := promised.get("as_labels"):
        yield _("Sensitive, but treated as quasi-identifiers: %(names)s.", names=", ".join(labels))
    if promised.get("anatomy"):
        yield _(
            "Sensitive values were shuffled among those who look alike (anatomy): no two values of a record belong to one person, so "
            "questions about two of them at once are answered wrongly."
        )
    yield _(
        "These rules do not add up as ε does. Somebody who knows a sensitive value, somebody's arm, or another file about the same people "
        "may learn more. Quiz answers are not in this release."
    )


def _joined(sentences: Sequence[Sentence], *, between: str = " ") -> Sentence:
    """Sentences one after another, each of which is translated by itself."""
    return Sentence(between.join(f"%(part{at})s" for at in range(len(sentences))), {f"part{at}": one for at, one in enumerate(sentences)})
