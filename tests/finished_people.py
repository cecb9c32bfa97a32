"""Adds many people who have finished a study at once, in the state that the journey leaves, with a known truth."""

import random
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import islice
from typing import Any

from analysis.models import Run, RunKind, RunStatus
from analysis.runs import runner
from candor.designs.categories import TRUTH
from surveys.batches.services import count_again, keep_shown_numbers
from surveys.models import AllocationSlot, CategoryResponse, Participant, Response, SlotStatus, Step, Study
from surveys.protocols import protocol_in_force
from surveys.questions.sections import SECTION
from tests.jobs import work_off

BATCH = 5000
# A die that says clearly who follows it, for tests that need every estimate.
TELLING_DIE = {
    "sides": 20,
    "subsamples": {"1": {"yes": [1], "no": list(range(2, 15))}, "2": {"yes": list(range(1, 14)), "no": [14]}},
    "cheaters": "any",
}
DAYS = 10


def count_everybody(study: Study) -> None:
    """As if whole batches had let everybody into the shown numbers, exactly: for tests of what is shown, not of when."""
    Participant.objects.filter(study=study).update(counted=True)
    count_again(study)
    keep_shown_numbers(study, shown_as=int)


def compute(study: Study, *kinds: RunKind) -> dict[str, Any]:
    """Compute results of these kinds, or of all, from the answers that a test has stored or changed; return those of the last kind."""
    count_again(study)
    for kind in kinds or RunKind:
        runner.queue_run(study.pk, kind=kind)
        queued = Run.objects.get(study=study, kind=kind, status=RunStatus.QUEUED)
        work_off(queued)
        found = Run.objects.get(pk=queued.pk)
        assert found.status == RunStatus.DONE
    return dict(found.results)


def add_finished_people(
    study: Study,
    n: int,
    *,
    seed: int = 1,
    cheaters: float = 0.1,
    prevalence: float = 0.4,
    effect: float = 0.2,
    unfinished: float = 0.0,
    counted: bool = True,
) -> None:
    """`n` people of the sample study who took the next lines of its list, counted or waiting for a batch.

    Treatment raises the true share of yes, and of the last category, by `effect`; the other categories are equally frequent. Cheaters say
    no, or the first category, whatever the die says; a share `unfinished` of the people stopped at
    the lecture. Every arm of a subsample draws from its own generator: its answers follow from the seed and its size alone, in whatever
    order chance put the lines of the list.
    """
    generators: dict[tuple[str, str], random.Random] = {}
    definition = protocol_in_force(study).definition
    forced = definition.die.design().forced_responses()
    dice = [(question, question.die(definition.die.sides)) for question in definition.category_questions]
    free = AllocationSlot.objects.filter(study=study, status=SlotStatus.FREE).order_by("position")
    lines = list(free.values_list("pk", "subsample", "arm", "stratum"))
    if definition.in_sections:  # as many from each section
        places_in = Counter[str]()
        lines.sort(key=lambda line: places_in.update([line[3]]) or places_in[line[3]])
    slots = iter(lines[:n])
    today, places, made = date.today(), iter(range(n)), 0
    while batch := list(islice(slots, BATCH)):
        people, responses, chosen = [], [], []
        for _pk, subsample, arm, stratum in batch:
            if (subsample, arm) not in generators:
                generators[subsample, arm] = random.Random(f"{seed} {study.slug} {subsample} {arm}")
            rng = generators[subsample, arm]
            day = today - timedelta(days=DAYS * (n - next(places) - 1) // max(n, 1))
            person = Participant(
                study=study,
                protocol_id=study.protocol_id,
                token_hash=f"{rng.getrandbits(256):064x}",
                withdrawal_hash=f"{rng.getrandbits(256):064x}",
                language="en",
                step=Step.FINISHED,
                subsample=subsample,
                arm=arm,
                background=dict(_background(rng)) | ({SECTION: stratum} if definition.in_sections else {}),
                consented_on=day,
                finished_on=day,
            )
            people.append(person)
            if rng.random() < unfinished:
                person.step, person.finished_on = Step.VIDEO, None
                continue
            if subsample not in forced:  # drawn into the direct group, but declined
                person.agrees_to_direct = False
                continue
            honest = rng.random() >= cheaters
            share = prevalence + (effect if arm != definition.control else 0)
            for question in definition.yes_no_questions:
                rolled, truth = rng.random(), rng.random() < share
                no, yes = float(forced[subsample].forced_no), float(forced[subsample].forced_yes)
                says_yes = honest and (rolled < yes or (rolled >= yes + no and truth))
                responses.append(Response(participant=person, question=question.name, reported_yes=says_yes))
            for question, die in dice:
                answers, says = question.answers, die.instruction(subsample, rng.randint(1, die.sides)) if honest else question.answers[0]
                true = answers[-1] if rng.random() < share else rng.choice(answers[:-1])
                category = answers.index(true if says == TRUTH else says)
                chosen.append(CategoryResponse(participant=person, question=question.name, category=category))
        Participant.objects.bulk_create(people, batch_size=500)
        Response.objects.bulk_create(responses, batch_size=2000)
        CategoryResponse.objects.bulk_create(chosen, batch_size=2000)
        AllocationSlot.objects.filter(pk__in=[pk for pk, *_rest in batch]).update(status=SlotStatus.TAKEN)
        made += len(batch)
    assert made == n, f"the list had room for {made} of {n}"
    if counted:
        count_everybody(study)


def _background(rng: random.Random) -> Iterator[tuple[str, Any]]:
    if rng.random() < 0.95:
        yield "gender", rng.choice(["woman", "man", "other"])
    if rng.random() < 0.9:
        yield "year", rng.randint(1, 8)
    yield "devices", rng.sample(["phone", "laptop", "room"], rng.randint(1, 3))
    if rng.random() < 0.5:
        yield "courses", [{"course": "probability", "grade": rng.randint(40, 100)} for _ in range(rng.randint(1, 3))]
