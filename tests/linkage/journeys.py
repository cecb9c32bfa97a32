"""Many people who take part in a random order, by the services that the pages call; who they are is remembered here alone."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from surveys.batches.order_of_arrival import forget_order_of_days, forget_recent_order
from surveys.batches.services import count_next_batch
from surveys.journey import services as participation
from surveys.journey.services import Visit
from surveys.models import Participant, Study
from surveys.recruitment.services import add_entry_codes, write_down_entries
from surveys.tokens import hash_of_entry_code, hash_of_panel_identifier, hash_of_token, new_token, withdrawal_code
from tests.categories import PROBATION, with_frequency
from tests.factories import recruiting_study

PEOPLE = 150
AT_A_TIME = 12
LEAVE = 6
STAGES = ("at once", "after a batch", "after an hour", "after a night")
Truth = dict[str, str]
"""The trace of each person's code or number at the panel → the key of their answers."""


@dataclass(kw_only=True, eq=False)
class Walk:
    """One person on their way."""

    study: Study
    trace: str
    visit: Visit
    step: int = field(default=0)

    @property
    def token(self) -> str:
        return self.visit.token

    @property
    def person(self) -> Participant:
        return Participant.objects.get(token_hash=hash_of_token(self.token))

    @property
    def steps(self) -> tuple[Callable[[], object], ...]:
        return (
            lambda: participation.enrol(Study.objects.get(pk=self.study.pk), visit=self.visit),
            lambda: participation.record_background(self.person, token=self.visit.token, answers={"gender": "woman"}),
            lambda: participation.finish_stimulus(self.person, page=0),
            lambda: participation.record_quiz(self.person, answers={"groups": "alike", "control": "spare"}),
            lambda: participation.finish_die(self.person, understood_at_once=True),
            lambda: participation.record_responses(
                self.person, reported=dict.fromkeys(QUESTIONS, True), chosen={"copying": 2, "probation": 1}
            ),
        )

    def go_on(self) -> bool:
        """Take the next step; False once all are taken."""
        self.steps[self.step]()
        self.step += 1
        return self.step < len(self.steps)

    def leave(self) -> None:
        """Withdraw."""
        participation.withdraw(self.study, code=withdrawal_code(self.token))


QUESTIONS = ("attention", "retention", "judgement", "comprehension")


SEVERAL_WAYS = {"ways": [{"name": "prolific", "kind": "prolific"}, {"name": "poster"}]}


def by_services(study: Study, name: str, *, codes: bool) -> Walk:
    """Somebody with this code, or this number at the panel, who needs no pages."""
    entry = {"code": name} if codes else {"way": "prolific", "panel_identifier": name}
    return Walk(study=study, trace=trace_of(study, name, codes=codes), visit=Visit(token=new_token(), language="en", **entry))


def trace_of(study: Study, name: str, *, codes: bool) -> str:
    """The trace that this code, or this number at the panel, leaves."""
    return hash_of_entry_code(name, study.slug) if codes else hash_of_panel_identifier(f"prolific:{name}", study.slug)


def walk_everybody(study: Study, *, seed: int, codes: bool, people: int = PEOPLE, somebody: Callable[..., Walk] = by_services) -> Truth:
    """Let everybody walk, a few at a time; some leave. Return whose answers are whose."""
    rng = random.Random(seed)
    names = [f"{rng.getrandbits(96):024x}" for _ in range(people)]
    if codes:
        add_entry_codes(study, codes=sorted([*names, *(f"{rng.getrandbits(60):015X}" for _ in range(people // 2))]), actor=study.owner)
    coming = [somebody(study, name, codes=codes) for name in names]
    everybody, here = list(coming), []
    while coming or here:
        if coming and (len(here) < AT_A_TIME):
            here.append(coming.pop(0))
        # Mostly the person who has been here longest goes on: people who come early are early at the end, too.
        walk = here[min(int(rng.expovariate(0.7)), len(here) - 1)]
        if not walk.go_on():
            here.remove(walk)
    for walk in rng.sample(everybody, LEAVE):
        walk.leave()
        everybody.remove(walk)
    return {walk.trace: walk.person.pk.hex for walk in everybody}


def pass_time(stage: str) -> None:
    """Do what the installation does until this stage."""
    if stage == "after a batch":
        for study in Study.objects.all():
            assert count_next_batch(study), "there are people enough for a batch"
    elif stage == "after an hour":
        assert forget_recent_order() == []
    elif stage == "after a night":
        write_down_entries()
        assert forget_order_of_days() == []


def study_of(kind: str) -> Study:
    """A study that people enter with codes, or from a panel beside a poster."""
    entry = {"kind": kind} if kind == "codes" else SEVERAL_WAYS
    allocation = {"planned_participants": PEOPLE}
    return recruiting_study(slug=f"with-{kind}", entry=entry, allocation=allocation, questions=[*with_frequency(), PROBATION])


def in_stages(look: Callable[[str, Mapping[str, Truth]], None], *, seed: int) -> None:
    """Walk two studies, one with codes and one with a panel beside a poster, and look at the database at each stage."""
    truths = {kind: walk_everybody(study_of(kind), seed=seed, codes=kind == "codes") for kind in ("codes", "prolific")}
    for stage in STAGES:
        pass_time(stage)
        look(stage, truths)
