"""The people who wait for the next batch, and the numbers that everybody is shown meanwhile."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.db import connection
from django.db.models import Count, Q, QuerySet

from surveys.batches import rules
from surveys.batches.tally import Tally, not_counted, tallies_kept, tally_of, waiting_or_on_their_way
from surveys.counts import (
    Alike,
    ConsentCount,
    Counts,
    counts_of,
    deleted_while_held_back,
    exact_consent_counts,
    taken_lines,
    withdrawals,
)
from surveys.definition import DIRECT
from surveys.models import ENDED, RUNNING, BotRun, BotRunStatus, Participant, ShownNumbers, Step, Study
from surveys.protocols import frozen_protocol, protocol_in_force
from surveys.questions.sections import SECTION

AT_THE_END = "at_the_end"
"""The mark of shown numbers that were kept when nobody came any more: they are exact."""
ENDED_BEFORE = "ended_before"
"""The mark of an end before which there was another one, with other people."""
GROUP = ("subsample", "arm", "answered", "is_bot")
"""The columns that tell one group of a batch from another. Bots and people never fill up each other's groups."""
REFUSED = Q(subsample=DIRECT, agrees_to_direct=False)
TOTALS = (
    "declined",
    "consented",
    "assigned",
    "withdrew",
    "comprehension_passed",
    "comprehension_failed",
    "attention_failed",
    "task_not_done",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchProgress:
    """Where a study stands between two batches."""

    until_next: int | None
    """How many more people complete the next batch; None where none will come."""
    people: int
    """How many people the batch needs, from the one before it on."""
    beyond_plan: bool
    """The study plans for fewer people than one batch needs. Then its numbers come when it is closed."""
    withheld: bool
    """Somebody who was in the shown numbers withdrew, or everybody is being counted after the end: there are none until then."""
    being_counted: int
    """After the end, how many people have still to be counted before there are numbers; whole tens."""
    held_back: bool
    """Somebody withdrew after the end, or a restored back-up had lost somebody: some people are left out to hide who it was."""
    too_few: bool
    """The study ended with so few people that results would be about persons."""

    @property
    def shows_results(self) -> bool:
        return not (self.withheld or self.too_few)

    @property
    def arrived(self) -> int:
        return min(max(self.people - (self.until_next or 0), 0), self.people)


def counted_people(study: Study) -> Tally:
    """The people of whole batches, from whom everything is computed that depends on participants."""
    return tally_of(study.pk)


def shown_counts(study: Study, counted: Tally | None = None) -> Counts | None:
    """The counts as everybody sees them; None between the withdrawal of a counted person and the next batch, and while all are counted
    after the end.

    While the study runs, finished people are those of whole batches; all others are as `show_who_is_on_the_way` last left them, or as many
    as have finished where that was long ago. `counted` saves the query of `counted_people` for callers that already made it.
    """
    if study.numbers_withheld:
        return None
    counted = counted_people(study) if counted is None else counted
    # Looked at again: a withdrawal that was committed meanwhile is in the counts, and set this mark with them.
    if Study.objects.filter(pk=study.pk, numbers_withheld=True).exists():
        return None
    numbers = _numbers(study)
    if study.status in ENDED:
        return _counts_at_the_end(study, counted, numbers)
    finished: Counter[tuple[str, str]] = Counter()
    for alike, people in counted.people.items():
        finished[alike.subsample, alike.arm] += people if alike.answered else 0
    watched, assigned = (_by_group(numbers.get(name, ())) for name in ("watched_by_group", "assigned_by_group"))
    totals = {name: numbers.get(name, 0) for name in TOTALS}
    totals |= {name: max(totals[name], finished.total()) for name in ("consented", "assigned")}
    return Counts(
        **totals,
        finished=finished.total(),
        assigned_by_group=assigned | finished,  # somebody who withdrew unseen has watched no more, which may lower the step
        watched_by_group=watched | finished,
        finished_by_group=finished,
    )


def _counts_at_the_end(study: Study, counted: Tally, numbers: dict[str, Any]) -> Counts:
    """The counts after the end. Nobody takes a line any more, so that lines stay as they were counted then."""
    present = counted.people.total() + sum(people.count() for people in not_counted(study.pk))
    assigned = _by_group(numbers["assigned_by_group"]) if numbers.get(AT_THE_END) else taken_lines(study)
    exact = counts_of(study, counted.people, present=present, assigned=assigned)
    # As at the end: a withdrawal on the way would move single groups by a few people.
    watched = _by_group(numbers.get("watched_by_group", ())) or exact.watched_by_group
    withdrew = _withdrew(exact.withdrew, at_the_end=numbers.get("withdrew", 0))
    failed = rules.in_steps(exact.attention_failed)  # a count of background answers, which no release need have
    consented = numbers["consented"] if numbers.get(AT_THE_END) else exact.consented
    return replace(exact, consented=consented, withdrew=withdrew, attention_failed=failed, watched_by_group=watched)


def people_in_tens() -> dict[str, dict[str, int]]:
    """How many people are where in each running study, by its slug and the step: whole tens, for programs that keep every number they see.

    A withdrawal moves none of them at once. People of whole batches were whole tens in each group, and a group from which somebody
    withdrew counts as before until ten have.
    """
    running = Study.objects.filter(status__in=RUNNING, rehearsal_of=None)
    kept = running.values_list("slug", "shown_numbers__numbers")
    found = {slug: {step: int((numbers or {}).get(step, 0)) for step in TOTALS} | {"finished": 0} for slug, numbers in kept}
    for slug, tally in _tallies(running):
        for (_subsample, _arm, answered, _is_bot), people in tally.groups().items():
            if answered:
                found[slug]["finished"] += -(-people // rules.LEAST) * rules.LEAST
    return found


def _tallies(studies: QuerySet[Study]) -> Iterator[tuple[str, Tally]]:
    """The counted people of each study, in one query for all whose counts are kept."""
    kept = dict(tallies_kept(studies))
    for key, slug in studies.values_list("pk", "slug"):
        yield slug, kept.get(key) or tally_of(key)


def version_of_shown_numbers(study: Study) -> tuple[object, ...]:
    """Another value whenever `shown_counts` or the counted people are others, for the work of a look at a few rows."""
    shown = ShownNumbers.objects.filter(study=study).values_list("version", "numbers").first()
    version, numbers = shown or (0, {})
    withdrew = _withdrew(withdrawals(study), at_the_end=numbers.get("withdrew", 0)) if study.status in ENDED else 0
    return str(study.status), study.numbers_withheld, study.forgotten_on, version, withdrew


def consent_counts(study: Study) -> list[ConsentCount]:
    """How many people decided about each version of the consent text, as everybody sees it: in steps, as last renewed. Where there are
    several versions, in whole tens after the end, too: exact numbers of one that few people read would be about persons.
    """
    before = {version: ConsentCount(version=version, agreed=a, declined=d, withdrew=w) for version, a, d, w in _versions(study)}
    if study.status not in ENDED:
        return list(before.values())
    nobody = ConsentCount(version=0, agreed=0, declined=0, withdrew=0)
    shown = [
        replace(one, withdrew=_withdrew(one.withdrew, at_the_end=before.get(one.version, nobody).withdrew))
        for one in exact_consent_counts(study, everybody(study))
    ]
    return shown if len(shown) == 1 else [_in_tens(one) for one in shown]


def _in_tens(one: ConsentCount) -> ConsentCount:
    agreed, declined, withdrew = (rules.in_tens(people) for people in (one.agreed, one.declined, one.withdrew))
    return replace(one, agreed=agreed, declined=declined, withdrew=withdrew)


def everybody(study: Study) -> Counter[Alike]:
    """All who are present: those in the shown numbers, as they are kept, and all others one by one."""
    return counted_people(study).people + waiting_or_on_their_way(study.pk)


def agreed_versions(study: Study) -> set[int]:
    """The keys of the protocols to which somebody who is present has agreed."""
    versions = {one.version for one, people in everybody(study).items() if people}
    return set(study.protocols.filter(version__in=versions).values_list("pk", flat=True))


def ways_shown(study: Study) -> dict[str, dict[str, int]]:
    """For each way in that anybody came, how many people began and ended so: whole tens, as last renewed with all other numbers."""
    found: dict[str, dict[str, int]] = _numbers(study).get("ways", {})
    return found


def others_are_shown_than_at_the_end(study: Study) -> bool:
    """Whether somebody took their data out since everybody entered the shown numbers at the end, or a back-up had lost somebody."""
    numbers = _numbers(study)
    return ENDED_BEFORE in numbers or withdrawals(study) > numbers.get("withdrew", 0)


def withdrawals_renew_results(study: Study) -> bool:
    """Whether results of a study that has ended are computed again because somebody withdrew: they come at that person's moment."""
    return study.status in ENDED and others_are_shown_than_at_the_end(study)


def _withdrew(people: int, *, at_the_end: int) -> int:
    """Withdrawals after the end are shown in steps, since each of them would otherwise be one person's."""
    return at_the_end + (people - at_the_end) // rules.LEAST * rules.LEAST


def _numbers(study: Study) -> dict[str, Any]:
    return ShownNumbers.objects.filter(study=study).values_list("numbers", flat=True).first() or {}


def _versions(study: Study) -> list[tuple[int, int, int, int]]:
    return [tuple(row) for row in _numbers(study).get("versions", ())]


def _by_group(rows: Iterable[tuple[str, str, int]]) -> Counter[tuple[str, str]]:
    return Counter({(subsample, arm): people for subsample, arm, people in rows})


def finished_people(study_id: int, *, counted: bool) -> QuerySet[Participant]:
    """Those who have finished, and are in the shown numbers or not yet."""
    people = Participant.objects.filter(study_id=study_id, step=Step.FINISHED, counted=counted).annotate(answered=~REFUSED)
    return people if counted else people.filter(finished_on__isnull=False)  # there is an index of these


def group_of(person: Participant) -> QuerySet[Participant]:
    """The people among whom this person is hidden: those who have finished in the same way, or all who have not finished.

    Where sections are assigned as a whole these are people of the same section: a release may tell sections apart.
    """
    alike = Participant.objects.filter(study_id=person.study_id, is_bot=person.is_bot).annotate(answered=~REFUSED)
    if person.step != Step.FINISHED:
        return alike.exclude(step=Step.FINISHED)
    answered = not (person.subsample == DIRECT and person.agrees_to_direct is False)
    alike = alike.filter(step=Step.FINISHED, subsample=person.subsample, arm=person.arm, answered=answered)
    in_sections = frozen_protocol(person.protocol_id).definition.in_sections
    return alike.filter(background__section=person.background.get(SECTION)) if in_sections else alike


def waiting_people(study_id: int) -> QuerySet[Participant]:
    """Those who have finished and are in no shown number yet."""
    return finished_people(study_id, counted=False)


def nobody_comes_any_more(study: Study) -> bool:
    """Whether the study, or the run of a rehearsal's bots, has ended, so that nobody has to be held back."""
    if study.rehearsal_of_id is None or study.status in ENDED:
        return study.status in ENDED
    return not BotRun.objects.filter(study=study, status=BotRunStatus.RUNNING).exists()


def batch_is_complete(study: Study) -> bool:
    """Whether enough people wait, in all. It asks for little: the end of every journey asks this."""
    if study.status not in RUNNING:
        return False
    waiting, left_over = _waiting(study.pk)
    return waiting > 0 and (waiting >= _completes(study, left_over=left_over) or nobody_comes_any_more(study))


def batch_progress(study: Study) -> BatchProgress:
    """The state of a study between two batches, for pages and programs."""
    ended = study.status in ENDED
    runs = study.status in RUNNING and not nobody_comes_any_more(study)
    waiting, left_over = _waiting(study.pk)
    needed = _completes(study, left_over=left_over) if runs else left_over
    left = sum(people.count() for people in not_counted(study.pk)) if ended else 0
    return BatchProgress(
        until_next=max(needed - waiting, 0) if runs else None,
        people=needed - left_over,
        beyond_plan=runs and needed > protocol_in_force(study).definition.allocation.planned_participants,
        withheld=study.numbers_withheld,
        being_counted=rules.in_tens(left) if study.numbers_withheld else 0,
        held_back=ended and not study.numbers_withheld and (left or deleted_while_held_back(study)) > 0,
        too_few=ended and not study.numbers_withheld and counted_people(study).answered < rules.LEAST,
    )


def by_group(people: QuerySet[Participant]) -> dict[tuple[object, ...], int]:
    """The number of people in each group."""
    rows = people.values(*GROUP).annotate(people=Count("pk")).order_by()
    return {tuple(row[name] for name in GROUP): row["people"] for row in rows}


def _completes(study: Study, *, left_over: int) -> int:
    """How many waiting people complete the next batch, after one that left so many waiting."""
    definition = protocol_in_force(study).definition
    groups = len(definition.group_weights) * len(definition.arm_weights)
    return rules.completes(groups=groups, left_over=left_over)


def _waiting(study_id: int) -> tuple[int, int]:
    """How many people wait, and how many the last batch left waiting: one statement, since the end of every journey asks."""
    people, shown = Participant._meta.db_table, ShownNumbers._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*), (SELECT left_over FROM {shown} WHERE study_id = %s) FROM {people} "  # noqa: S608
            "WHERE study_id = %s AND NOT counted AND finished_on IS NOT NULL",
            [study_id, study_id],
        )
        waiting, left_over = cursor.fetchone()
    return waiting, left_over or 0
