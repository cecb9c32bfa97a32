"""A release's promises to the people whose answers are in it, and their limits, in plain words with the numbers."""

from dataclasses import dataclass

from analysis.packages.content import Content
from candor.designs.privacy_words import AFTER_ALL, certainty, privacy_in_words
from candor.packages.documents import PromisedRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyStatement:
    unit: str
    neighbours: str
    mechanism: str
    epsilon_per_question: float
    epsilon_total: float
    questions: int
    composition: str
    meaning: str
    not_covered: tuple[str, ...]
    losses_differ: bool = False


def privacy_statement(content: Content) -> PrivacyStatement:
    """Privacy loss of this release, and of everything that can be computed from it."""
    questions = len(content.epsilons)
    not_covered = [
        "That somebody took part, and finished, is not hidden by the die; arm and subsample are chance and say nothing about a person.",
        "People who told the truth against the die gave up their own protection.",
    ]
    if direct := content.protocol["direct_group"]:
        not_covered.append(
            f"Some people (a share of {direct['share']} was drawn) were asked without a die. Neither they nor what they said are in this "
            "release."
        )
    if content.in_sections:
        not_covered.append(
            "Sections were assigned as a whole. Each has a random number in the data, and ten people or more in every subsample. People "
            "who know how large the sections are can guess which number is which; the die stands between every report and the truth."
            if any(row.cluster for row in content.rows)
            else "Sections were assigned as a whole. The data do not tell who was in which section, because some have fewer than ten "
            "people in a subsample; so nobody can compute standard errors from them."
        )
    if budget := content.protocol.get("privacy_budget"):
        not_covered.append(
            f"The study has a privacy budget for background and quiz answers: ε = {budget['epsilon']:g}, δ = {budget['delta']:g}. "
            f"It does not cover what the study shows exactly: {' '.join(budget['not_covered'])}"
        )
    if reason := content.reason_for_exact_counts:
        what = "Counts of background answers are exact" if content.records is None else "Records of background answers are"
        not_covered.append(f"{what} in this release, outside of the study's privacy budget. The reason: {reason}")
    if (ledger := content.analytics) is not None:
        epsilon, delta = ledger["spent"]["epsilon"], ledger["budget"]["delta"]
        not_covered.append(
            f"The statistics in analytics.json are not protected by the die but by noise. Together they are ({epsilon:.4g}, {delta:g})-"
            "differentially private: neighbours differ in everything that one participant told, and the number of participants, "
            f"{ledger['participants']}, is public. Asking more, within the budget, adds to it."
        )
    elif content.records is not None:
        promised = content.protocol["records"]
        levels = ", ".join(f"{level} of {name}" for name, level in promised["l"].items())
        not_covered += [
            "Answers keep their ε; background is protected syntactically only. Background answers are published as records: at least "
            f"{promised['k']} people share everything that is told of each but sensitive values, arm, subsample and reported answers"
            + (f"; among those who look alike, no sensitive value is commoner than one in ℓ ({levels})." if levels else "."),
            *_exceptions(promised),
            "These rules do not add up as ε does. Somebody who knows a sensitive value, somebody's arm, or another file about the same "
            "people may learn more. Quiz answers are not in this release.",
        ]
    elif content.background is None:
        not_covered.append("Background and quiz answers are not in this release.")
    else:
        not_covered.append(
            "The counts of background answers are exact and not differentially private. They are over everybody at once, one question at a "
            f"time, never joined with reported answers, and counts below {content.smallest_count} are hidden, with as many others as are "
            "needed so that no sum gives them back. Quiz answers are not in this release."
        )
    return PrivacyStatement(
        unit="one participant",
        neighbours="two versions of the study that differ in the true answers of one participant, whatever they are",
        mechanism="randomised response by a private die that is rolled once for each question and never leaves the participant",
        epsilon_per_question=max(content.epsilons),
        epsilon_total=content.epsilon_total,
        questions=questions,
        composition=(
            f"One roll for each question, so losses add: {_sum(content)} = {content.epsilon_total:.4f}. Results, other "
            "versions of this release and anything else computed from the same reported answers add nothing. A further question that is "
            f"released later adds {'its own loss' if content.category_questions else f'{content.epsilon:.4f}'}."
        ),
        meaning=_meaning(content),
        not_covered=tuple(not_covered),
        losses_differ=len(set(content.epsilons)) > 1,
    )


def _sum(content: Content) -> str:
    """The losses that add up; yes/no questions share one."""
    yes_no = len(content.questions)
    return " + ".join([*([f"{yes_no} × {content.epsilon:.4f}"] if yes_no else []), *(f"{one:.4f}" for one in content.epsilons[yes_no:])])


def _meaning(content: Content) -> str:
    questions = len(content.epsilons)
    if not content.category_questions or questions == 1:
        return " ".join(privacy_in_words(max(content.epsilons), questions=questions))
    after_all = AFTER_ALL % {"questions": questions, "sure": f"{certainty(content.epsilon_total)} %"}
    return f"{privacy_in_words(max(content.epsilons), questions=questions)[0]} {after_all}"


def _exceptions(promised: PromisedRecords) -> list[str]:
    """The choices of protected records that change what they tell."""
    found = []
    if auxiliary := promised.get("auxiliary"):
        found.append(f"An officer confirmed by name that these are published as they are: {', '.join(auxiliary)}.")
    if labels := promised.get("as_labels"):
        found.append(f"Sensitive, but treated as quasi-identifiers: {', '.join(labels)}.")
    if promised.get("anatomy"):
        found.append(
            "Sensitive values were shuffled among those who look alike (anatomy): no two values of a record belong to one person, so "
            "questions about two of them at once are answered wrongly."
        )
    return found


def sentences_of(statement: PrivacyStatement) -> list[str]:
    """The statement in sentences, for files and pages alike: first what it means, then how and how much, then formally."""
    one_answer = f"{statement.epsilon_per_question:.4f} for each answer{' at most' if statement.losses_differ else ''}"
    return [
        statement.meaning,
        f"Mechanism: {statement.mechanism}. This is local differential privacy: the protection was complete before anything was sent.",
        f"ε = {one_answer}, {statement.epsilon_total:.4f} for {_all(statement.questions)}.",
        statement.composition,
        f"Formally, the unit of protection is {statement.unit}: neighbours are {statement.neighbours}.",
        *statement.not_covered,
    ]


def _all(questions: int) -> str:
    return "the one question" if questions == 1 else f"all {questions} questions together"
