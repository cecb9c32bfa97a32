"""Participants' actions, one function for each step. Every function reads the stored state again under the lock before it writes."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from surveys.allocation.services import has_room, take_slot
from surveys.batches.order_of_arrival import vacuum_soon
from surveys.batches.remembered_withdrawals import remember_withdrawal, remembered_withdrawals
from surveys.batches.services import forget_people, hide_withdrawal
from surveys.batches.tally import tally_of_people
from surveys.errors import (
    EntryRefusedError,
    InattentiveError,
    JourneyError,
    StepOutOfOrderError,
    StudyClosedError,
    StudyFullError,
    StudyNotOpenError,
)
from surveys.events import answers_changed, counted_people_changed, somebody_finished
from surveys.journey import steps
from surveys.journey.participant_store import (
    NOTHING_ELSE,
    Change,
    Count,
    count,
    hold_participant,
    insert,
    insert_while,
    move,
    move_to_line,
    read_participant,
    read_study,
    write,
)
from surveys.journey.withdrawals import Receipt, Replayed, require_findable
from surveys.models import ENDED, RUNNING, CategoryResponse, CounterKind, DirectAnswer, Participant, Response, Study, StudyStatus
from surveys.protocols import FrozenProtocol, frozen_protocol, protocol_in_force
from surveys.questions.entry import NamedWay
from surveys.questions.sections import SECTION
from surveys.recruitment import services as recruitment
from surveys.recruitment.arrivals import Ended
from surveys.tokens import hash_of_token, hash_of_withdrawal_code, panel_hash, withdrawal_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """Somebody who pressed Start and has not consented yet; kept in their cookie, not on the server."""

    token: str
    language: str
    code: str = ""
    way: str = ""
    panel_identifier: str = ""
    query: str = ""
    section: str = ""
    is_bot: bool = False


class AlreadyDoneError(Exception):
    """The step was done before, by a double click, another tab or the back button. Harmless: show the page where the person belongs now."""


def require_open(study: Study, *, is_bot: bool) -> FrozenProtocol:
    """The protocol under which newcomers enter, or the reason why nobody can."""
    if study.rehearsal_of_id is not None and not is_bot:
        raise StudyNotOpenError(_("This is a rehearsal, for bots only"), situation="rehearsal")
    if study.status in ENDED:
        raise StudyClosedError
    if study.status == StudyStatus.PAUSED:
        raise StudyNotOpenError(_("This study is paused"), situation="paused")
    if study.status != StudyStatus.RECRUITING:
        raise StudyNotOpenError
    if study.rehearsal_of_id is None and (study.approved_until is None or study.approved_until < timezone.localdate()):
        raise StudyNotOpenError(_("The approval of this study has ended"), situation="paused")
    return protocol_in_force(study)


def require_entry(study: Study, protocol: FrozenProtocol, *, way: NamedWay, visit: Visit) -> None:
    """Refuse early people who could not consent later: unknown or spent code, panel member who was here before, full study, or full section
    that their link named. Stores nothing but the number of refused codes.
    """
    try:
        recruitment.require_entry(study, way, code=visit.code, panel_identifier=visit.panel_identifier)
    except EntryRefusedError as refusal:
        if refusal.situation == EntryRefusedError.situation:
            count(Count(study.pk, CounterKind.CODE_REFUSED, protocol.version))
        raise
    if not has_room(study, section=visit.section or None):
        raise StudyFullError


@transaction.atomic
def decline(study: Study, *, version: int, way: str = "", is_bot: bool = False) -> None:
    """Somebody did not consent to this version: one more in the counts. After the end nobody is counted: the number would be theirs."""
    _require_still_open(study, is_bot=is_bot)
    count(Count(study.pk, CounterKind.DECLINED, version))
    recruitment.count_way(study.pk, protocol_in_force(study).definition.entry, way=way, end=Ended.DECLINED)


def enrol(study: Study, *, visit: Visit) -> Participant:
    """Store a participant who consents. The same visit twice, or in two tabs at once, is one participant.

    From the moment in which a study is paused or suspended nobody is stored, no matter when their page was requested.
    """
    protocol = require_open(study, is_bot=visit.is_bot)
    entry = protocol.definition.entry
    way = entry.named(visit.way) or entry.every_way[0]
    participant = Participant(
        study=study,
        protocol_id=protocol.id,
        token_hash=hash_of_token(visit.token),
        withdrawal_hash=hash_of_withdrawal_code(withdrawal_code(visit.token)),
        language=visit.language,
        background={SECTION: visit.section} if visit.section in protocol.definition.sections else {},
        is_bot=visit.is_bot,
        step=steps.step_after(steps.CONSENT, protocol.definition),
        consented_on=timezone.localdate(),
    )
    needs_more = steps.is_drawn(participant.step) or not entry.is_one or way.way.takes_code or way.way.is_panel
    if not needs_more and insert_while(participant, study):
        return participant
    with transaction.atomic():
        _require_still_open(study, is_bot=visit.is_bot)
        if steps.is_drawn(participant.step):
            participant.subsample, participant.arm = _assigned(participant, protocol)
        if not insert([participant], unless_there=True):
            participant = _enrolled_before(participant.token_hash)
            transaction.set_rollback(True)  # the line of the list is free again
            return participant
        code = withdrawal_code(visit.token)
        recruitment.spend_entry(study, way, code=visit.code, panel_identifier=visit.panel_identifier, withdrawal_code=code)
        recruitment.count_way(study.pk, entry, way=way.name, end=recruitment.AGREED)
    return participant


def _enrolled_before(token_hash: str) -> Participant:
    """The participant whom another tab was quicker to store."""
    if (participant := read_participant(token_hash)) is None:
        raise StepOutOfOrderError  # they withdrew at once
    return participant


def _require_still_open(study: Study, *, is_bot: bool) -> None:
    """The study read before may be out of date; this one holds, under the protocol that the person has read, until they are stored."""
    current = read_study(study.slug, hold=True)
    if current is None or current.protocol_id != study.protocol_id:
        raise StepOutOfOrderError
    require_open(current, is_bot=is_bot)


def _require_at(participant: Participant, step: str) -> FrozenProtocol:
    """The protocol of a participant, if `step` is theirs to do now."""
    if steps.comes_before(step, participant.step):
        raise AlreadyDoneError
    if participant.step != step:
        raise StepOutOfOrderError
    # Their row may have been waited for while the study was closed: then it stands here as it was before, but the row as it is.
    if participant.study.status not in RUNNING or participant.counted:
        raise StudyClosedError
    return frozen_protocol(participant.protocol_id)


def _hold(participant: Participant) -> None:
    """Lock a participant until the transaction ends, or raise why they do not stand any more where they were read."""
    stored = read_participant(participant.token_hash, lock=True)
    if stored is None:  # withdrawn from another tab or device since the page was asked for
        raise JourneyError(_("The data were taken out."), situation="withdrawn")
    _require_at(stored, participant.step)
    if stored.page != participant.page:
        raise AlreadyDoneError


def _write(participant: Participant, change: Change) -> None:
    """Write what a step changes, by one statement that does nothing unless the participant still stands where they were read."""
    if not move(participant, change):
        with transaction.atomic():
            _hold(participant)  # their row was only laid anew meanwhile, or this raises
            write(participant, change)
    vars(participant).update(change.fields)


def _assigned(participant: Participant, protocol: FrozenProtocol) -> tuple[str, str]:
    """The subsample and the arm of the next line of the list."""
    assignment = take_slot(participant.study, protocol.definition, stratum=_stratum(participant, protocol))
    return assignment.subsample, assignment.arm


def _moved_to_line(participant: Participant, protocol: FrozenProtocol, changes: Mapping[str, object]) -> bool:
    """Write what a step changes with the next line of the list, by one statement. False: nothing is written, for whatever reason."""
    if (line := move_to_line(participant, changes, stratum=_stratum(participant, protocol))) is not None:
        vars(participant).update(changes, subsample=line[0], arm=line[1])
    return line is not None


def _stratum(participant: Participant, protocol: FrozenProtocol) -> str:
    """Where no answer decides, the background is not read: it may not have been loaded."""
    decides = protocol.definition.in_sections or protocol.definition.allocation.strata
    return protocol.definition.stratum_of(participant.background) if decides else ""


def _advance(participant: Participant, protocol: FrozenProtocol, change: Change = NOTHING_ELSE) -> None:
    """Write the next step with what this one changes."""
    asked = steps.way_of_asking(participant.subsample, agrees=participant.agrees_to_direct)
    step = steps.step_after(participant.step, protocol.definition, asked=asked, answered=lambda: participant.background)
    at_the_end = {"finished_on": timezone.localdate()} if step == steps.FINISHED else {}
    _write(participant, replace(change, fields={"step": step, **at_the_end, **change.fields}))
    if at_the_end:
        transaction.on_commit(partial(somebody_finished.send, sender=Study, study=participant.study))


@contextmanager
def _before_assignment(participant: Participant, step: str, *, token: str) -> Iterator[FrozenProtocol]:
    """The protocol of a participant who is held. If there turns out to be no room for them, or they fail an attention check that decides
    who goes on, none of their data are kept.
    """
    protocol = _require_at(participant, step)
    try:
        with transaction.atomic():
            _hold(participant)
            yield protocol
    except (StudyFullError, InattentiveError) as refusal:
        excluded, refusal.protocol_id = isinstance(refusal, InattentiveError), protocol.id
        with transaction.atomic():
            stored = read_participant(participant.token_hash, lock=True)  # nobody writes their row anew meanwhile, or counts them
            if stored is not None and stored.step == step and not stored.counted:
                Participant.objects.filter(pk=stored.pk).delete()
                recruitment.let_go(participant.study, protocol.definition.entry, token=token, may_come_again=not excluded)
                if excluded:
                    count(Count(participant.study_id, CounterKind.EXCLUDED, protocol.version))
                recruitment.count_end(participant.study_id, protocol.definition.entry, token=token, end=Ended.SCREENED_OUT)
        if excluded:
            vacuum_soon()
        raise


def record_background(participant: Participant, *, token: str, answers: Mapping[str, object]) -> None:
    """Store the background answers and assign, silently and once, subsample and arm, unless there is still something to be asked first."""
    protocol = _require_at(participant, steps.BACKGROUND)
    definition, participant.background = protocol.definition, dict(answers)
    step = steps.step_after(steps.BACKGROUND, definition, answered=lambda: answers)
    changes: dict[str, object] = {"step": step, "background": participant.background}
    fails = any(check.fails(answers) for check in definition.attention_checks)
    if steps.is_drawn(step) and not fails and _moved_to_line(participant, protocol, changes):
        return
    with _before_assignment(participant, steps.BACKGROUND, token=token):
        if fails and definition.attention == "exclude":
            raise InattentiveError
        if steps.is_drawn(step):
            changes["subsample"], changes["arm"] = _assigned(participant, protocol)
        failed = Count(participant.study_id, CounterKind.ATTENTION_FAILED, protocol.version) if fails else None
        _write(participant, Change(fields=changes, counts=failed))


def record_direct_consent(participant: Participant, *, token: str, agrees: bool) -> None:
    """Store whether this person may be asked without a die, and only then assign: the next line of the list comes whatever they said."""
    protocol = _require_at(participant, steps.DIRECT_CONSENT)
    step = steps.step_after_direct_consent(protocol.definition, agrees=agrees, answered=lambda: participant.background)
    if step is not None and _moved_to_line(participant, protocol, {"step": step, "agrees_to_direct": agrees}):
        return
    with _before_assignment(participant, steps.DIRECT_CONSENT, token=token) as protocol:
        subsample, arm = _assigned(participant, protocol)
        participant.agrees_to_direct, participant.subsample, participant.arm = agrees, subsample, arm
        _advance(participant, protocol, Change(fields={"agrees_to_direct": agrees, "subsample": subsample, "arm": arm}))


@transaction.atomic
def record_watched(token: str, *, page: int, tenths: int) -> None:
    """Remember how much of this page of their arm has been watched or heard, in tenths; it never goes down."""
    here = Participant.objects.filter(token_hash=hash_of_token(token), step=steps.VIDEO, page=page, counted=False)
    here.filter(watched_tenths__lt=tenths).update(watched_tenths=min(tenths, 10))


def finish_stimulus(participant: Participant, *, page: int, undone: bool = False) -> None:
    """Go on from this page of their arm: to the next one, or the step after it. A task that was not done is counted, and no more."""
    protocol = _require_at(participant, steps.VIDEO)
    if participant.page != page:
        raise AlreadyDoneError
    counts = Count(participant.study_id, CounterKind.TASK_NOT_DONE, protocol.version) if undone else None
    if participant.page + 1 < len(protocol.definition.arm(participant.arm).shown):
        _write(participant, Change(fields={"page": participant.page + 1, "watched_tenths": 0}, counts=counts))
    else:
        _advance(participant, protocol, Change(fields={"page": 0} if participant.page else {}, counts=counts))


def record_quiz(participant: Participant, *, answers: Mapping[str, str]) -> None:
    _advance(participant, _require_at(participant, steps.QUIZ), Change(fields={"quiz": dict(answers)}))


def finish_die(participant: Participant, *, understood_at_once: bool) -> None:
    """Go on to the questions. Whether the practice was understood is counted, not kept with the person."""
    protocol = _require_at(participant, steps.DIE)
    kind = CounterKind.COMPREHENSION_PASSED if understood_at_once else CounterKind.COMPREHENSION_FAILED
    _advance(participant, protocol, Change(counts=Count(participant.study_id, kind, protocol.version)))


def record_responses(participant: Participant, *, reported: Mapping[str, bool], chosen: Mapping[str, int] | None = None) -> None:
    """Store the answers to all sensitive questions at once; from here on they are final. `chosen` has the places of categories."""
    protocol = _require_at(participant, steps.QUESTIONS)
    chosen, definition = chosen or {}, protocol.definition
    possible = {question.name: range(len(question.categories)) for question in definition.category_questions}
    expected = {question.name for question in definition.yes_no_questions}
    if set(reported) != expected or set(chosen) != set(possible):
        raise JourneyError(
            _("Expected answers to %(expected)s, got answers to %(reported)s.")
            % {"expected": ", ".join(sorted({*expected, *possible})), "reported": ", ".join(sorted({*reported, *chosen})) or _("none")}
        )
    if outside := [name for name, place in chosen.items() if place not in possible[name]]:
        values = {"question": outside[0], "last": possible[outside[0]][-1], "found": chosen[outside[0]]}
        raise JourneyError(_("Expected a category from 0 to %(last)s as the answer to %(question)s, got %(found)s.") % values)
    yes_no = [Response(participant=participant, question=name, reported_yes=yes) for name, yes in reported.items()]
    categories = [CategoryResponse(participant=participant, question=name, category=place) for name, place in chosen.items()]
    _advance(participant, protocol, Change(rows=[*yes_no, *categories]))


def record_direct_answers(participant: Participant, *, answers: Mapping[str, int]) -> None:
    """Store what somebody answers without a die: 1 for yes, or a category's place. No question needs an answer: nothing protects it."""
    protocol = _require_at(participant, steps.DIRECT_QUESTIONS)
    places = {question.name: len(question.categories) for question in protocol.definition.questions}
    if unknown := [name for name, value in answers.items() if name not in places or not 0 <= value < (places[name] or 2)]:
        raise JourneyError(_("Expected answers to questions of this study, got one to %(unknown)s.") % {"unknown": ", ".join(unknown)})
    said = {name: {"category": value} if places[name] else {"yes": bool(value)} for name, value in answers.items()}
    rows = [DirectAnswer(participant=participant, question=name, **value) for name, value in said.items()]
    _advance(participant, protocol, Change(rows=rows))


def withdraw(study: Study, *, code: str) -> Receipt | None:
    """Delete everything stored about the person who holds this code; only the count of assigned people stays. None: no such code."""
    withdrawal_hash, panel_number = hash_of_withdrawal_code(code), panel_hash(code)
    with transaction.atomic():
        receipt = _withdraw(study, withdrawal_hash=withdrawal_hash, panel_number=panel_number)
        if receipt is not None:
            remember_withdrawal(withdrawal_hash=withdrawal_hash, panel_number=panel_number)
    if receipt is not None:
        vacuum_soon()
    return receipt


def replay_withdrawals(folder: Path, *, of: Study | None = None) -> Replayed:
    """Withdraw again everybody, or everybody `of` a study, who is remembered in the folder and whom a restored back-up brought back."""
    remembered = remembered_withdrawals(folder)
    back = Participant.objects.filter(withdrawal_hash__in=remembered).select_related("study").defer("study__definition").order_by("pk")
    again, refused = 0, 0
    for participant in back if of is None else back.filter(study=of):
        try:
            with transaction.atomic():
                found = participant.withdrawal_hash
                again += bool(_withdraw(participant.study, withdrawal_hash=found, panel_number=remembered[found], leaving=remembered))
        except JourneyError:
            refused += 1
    return Replayed(remembered=len(remembered), again=again, refused=refused)


def _withdraw(study: Study, *, withdrawal_hash: str, panel_number: str, leaving: Collection[str] = ()) -> Receipt | None:
    """`panel_number` is the hash that finds the number of a panel member; `leaving` are the hashes of those who go with this person."""
    require_findable(study)  # now, so that nobody waits for the deletion of operational data
    # First the participant, then the study: every step locks them in this order. Others who withdraw wait for the rest alone.
    participant = hold_participant(study.pk, withdrawal_hash=withdrawal_hash)
    if participant is None:
        require_findable(Study.objects.get(pk=study.pk))
        return None
    answered = any(some.exists() for some in (participant.responses, participant.category_responses, participant.direct_answers))
    counted_as = tally_of_people([participant.pk]) if participant.counted else None
    participant.delete()
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    require_findable(study)
    today = timezone.localdate()
    receipt = Receipt(
        day=today,
        answers=answered,
        background=bool(participant.background),
        panel_number=recruitment.forget_panel_member(study, person=panel_number),
        results=participant.counted,
        backups_until=today + timedelta(days=settings.BACKUP_DAYS),
    )
    if counted_as is not None:
        forget_people(study.pk, counted_as)
    count(Count(study.pk, CounterKind.WITHDREW, frozen_protocol(participant.protocol_id).version))
    if participant.counted:
        _forget_numbers_of(study, participant, leaving)
    transaction.on_commit(partial(answers_changed.send, sender=Study, study_id=study.pk))
    return receipt


def _forget_numbers_of(study: Study, participant: Participant, leaving: Collection[str] = ()) -> None:
    """Withhold all numbers that saw this person: until the next batch, or, where none comes any more, until all is computed again."""
    if study.status in RUNNING or study.numbers_withheld:
        Study.objects.filter(pk=study.pk).update(numbers_withheld=True)
    else:
        hide_withdrawal(study, withdrawn=participant, leaving=leaving)
    counted_people_changed.send(sender=Study, study_id=study.pk, withdrawn=participant)
