"""The things that a study shows without noise, whatever its privacy budget: the one list that stands beside every guarantee."""

from collections.abc import Iterator, Sequence

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from surveys.definition import StudyDefinition


def shown_exactly(definition: StudyDefinition, *, reasons_for_counts: Sequence[str] = ()) -> list[str]:
    """One sentence for each kind of numbers; `reasons_for_counts` are those of releases with exact counts of background answers."""
    return [
        *_numbers(definition),
        *(
            _("Counts or records of background answers in a data package. The reason: %(reason)s") % {"reason": reason}
            for reason in reasons_for_counts
        ),
    ]


def _numbers(definition: StudyDefinition) -> Iterator[str]:
    language = get_language() if get_language() in definition.languages else definition.languages[0]
    yield _("How many people took part, how far they came, and on which day, by group.")
    yield _("The answers to the sensitive questions, with the group. The die protects them.")
    if definition.countable_background:
        yield _("Effects that are more exact because they use background answers. Those who run the study see them.")
        if not definition.in_sections:
            yield _("How much records of background answers would lose by being protected. Those who run the study see it.")
    if definition.attention_checks:
        yield _("How many people failed an attention check, in whole tens. Those who see the study read it.")
    for name in definition.subgroups:
        question = definition.possible_subgroups[name].text.in_language(language)
        yield _("Effects by the answers to “%(question)s”, and how many people gave each. Those who run the study see them.") % {
            "question": question
        }
    if definition.allocation.strata:
        yield _("The public lists by which groups are drawn. There is one for each stratum, and a further one where many people came.")
    if definition.direct_group:
        yield _("How many people said yes without a die. Those who run the study see it.")
    if definition.asks_for_words:
        yield _("Short texts, in alphabetical order. Those who run the study read them.")
