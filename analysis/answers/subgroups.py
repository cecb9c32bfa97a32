"""Effects by subgroup: once, after the end, for groups that are large enough.

While a study runs its numbers come from whole tens of each group of the list, but ten people of a list's group are never ten people of
one subgroup: two tables of a subgroup, before and after a batch, may differ by a single person. So there is one table only, after the
end. It lasts until somebody withdraws: a table without this person, beside the one before, would tell what the person reported, and the
people who are held back to hide a withdrawal may all be of other subgroups. Within the one table `candor.subgroups.disclosure` decides.
"""

import numpy as np

from analysis.answers.datasets import People
from analysis.stored_results import QuestionBySubgroup, Subgroups
from candor.errors import MethodError
from surveys.batches.rules import LEAST
from surveys.batches.selectors import nobody_comes_any_more, others_are_shown_than_at_the_end
from surveys.definition import StudyDefinition
from surveys.models import Study


def subgroups_of(study: Study, people: People, definition: StudyDefinition) -> Subgroups | None:
    """The planned comparisons of subgroups by question; None without any in the protocol."""
    if not definition.subgroups:
        return None
    from candor.subgroups.disclosure import groups_to_show  # SciPy, which web processes can do without
    from candor.subgroups.effects import subgroup_analysis

    ended = nobody_comes_any_more(study)
    if not ended or others_are_shown_than_at_the_end(study):
        return Subgroups(ended=ended, withdrawn=ended, outcomes=())
    found = []
    for asked in (one for one in definition.questions if not one.is_background):  # no arm changes what people are
        question, design = asked.name, definition.design_of(asked)
        (arms, subsamples), answers = design.shape, len(design.categories)
        there = people.who_answered(question)
        cell = people.arm[there] * subsamples + people.subsample[there]
        labels = {name: people.groups[name][there] for name in definition.subgroups}
        for name, groups in groups_to_show(labels, cell, cells=arms * subsamples, least=LEAST).items():
            counts = {}
            for group in groups:
                kind = (cell * answers + people.reported[question][there])[labels[name] == group]
                counts[group] = np.bincount(kind, minlength=arms * subsamples * answers).reshape(arms, subsamples, answers)
            try:
                analysis = subgroup_analysis(counts, design=design, variable=name, planned=True)
            except MethodError:
                continue
            found.append(QuestionBySubgroup.of(analysis, question=question))
    return Subgroups(ended=True, withdrawn=False, outcomes=tuple(found))
