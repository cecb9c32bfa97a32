"""Rehearsing a study: in a sandbox copy bots answer as planted, and the results show whether the planted values are found."""

import secrets
from dataclasses import asdict, dataclass
from functools import partial
from math import ceil
from uuid import uuid4

from django.db import transaction
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from audit.services import record
from candor.arguments import share_in_arm
from jobs.tasks import send
from surveys import actions
from surveys.allocation.services import draw_first_lists
from surveys.batches.services import count_everyone, let_steps_end
from surveys.errors import SurveyError, TransitionError
from surveys.lifecycle.steps import locked
from surveys.models import BotRun, BotRunStatus, MediaFacts, Participant, Study, StudyStatus
from surveys.protocols import ProtocolView, next_protocol
from surveys.questions.assignment import Allocation
from surveys.questions.entry import Entry
from surveys.study_file import document_of

MOST_BOTS = 5000
# Duration assumed for a lecture without an upload; bots do not watch.
UNKNOWN_SECONDS = 60.0


class RehearsalError(SurveyError, ValueError):
    title = gettext_lazy("This rehearsal is not possible")
    advice = gettext_lazy("Change the numbers and try again; nothing was changed.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """The population of bots. Shares and the effect are proportions, not percentages; `effect` is that of every arm but the control.

    `under_reports` is the share who deny a true yes when asked directly.
    """

    bots: int
    prevalence: float
    effect: float
    cheater_proportion: float
    behaviour: str
    drops_out: float
    under_reports: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.bots <= MOST_BOTS:
            raise RehearsalError(
                _("Expected 1 to %(most)s bots, found %(found)s.")
                % {"most": number_format(MOST_BOTS, force_grouping=True), "found": number_format(self.bots, force_grouping=True)}
            )
        for share in (self.prevalence, self.cheater_proportion, self.drops_out, self.under_reports):
            if not 0 <= share <= 1:
                raise RehearsalError(_("Expected a share from 0 to 1, found %(found)s.") % {"found": number_format(f"{share:g}")})
        if not 0 <= (treated := share_in_arm(self.prevalence, self.effect)) <= 1:
            raise RehearsalError(
                _("Prevalence and effect together must lie between 0 and 1, found %(found)s.") % {"found": number_format(f"{treated:g}")}
            )


@transaction.atomic
def rehearse(study: Study, *, protocol: ProtocolView, planted: Planted, actor: User) -> BotRun:
    """Make a sandbox copy of `protocol` that replaces an older one, and send the bots on their way."""
    if study.rehearsal_of_id is not None:
        raise TransitionError(_("A rehearsal cannot be rehearsed."))
    if planted.under_reports and protocol.definition.direct_group is None:
        raise RehearsalError(_("This study asks nobody without a die, so nobody can deny a yes there."))
    _delete_sandbox(study, by=actor)
    slug = f"rehearsal-{secrets.token_hex(8)}"
    people, budget = max(planted.bots, 2), protocol.definition.privacy_budget
    share = people / protocol.definition.allocation.planned_participants
    arms = tuple(arm.model_copy(update={"quota": arm.quota and ceil(arm.quota * share)}) for arm in protocol.definition.arms)
    allocation = Allocation(**dict(protocol.definition.allocation) | {"planned_participants": people})
    changed = {"slug": slug, "entry": Entry(), "allocation": allocation, "arms": arms, "privacy_budget": budget and budget.fitting(people)}
    definition = protocol.definition.model_copy(update=changed)
    sandbox = Study(
        slug=slug,
        title=study.title,
        owner=study.owner,
        definition=document_of(definition),
        epsilon_per_question=study.epsilon_per_question,
        epsilon_total=study.epsilon_total,
        accepts_bots=True,
        rehearsal_of=study,
    )
    sandbox.full_clean(exclude=("protocol",))
    sandbox.save(force_insert=True)
    media = {name: _unknown() for name in definition.files()} | dict(protocol.media)
    sandbox.protocol = next_protocol(sandbox, definition, media=media)
    sandbox.protocol.save(force_insert=True)
    # No officer has to approve it: nobody but bots of this installation can come in.
    sandbox.status, sandbox.launched_on = StudyStatus.RECRUITING, timezone.localdate()
    sandbox.save()
    draw_first_lists(sandbox, definition)
    bot_run = BotRun(study=sandbox, due_at=timezone.now(), seed=secrets.randbits(32), **asdict(planted))
    bot_run.full_clean()
    bot_run.save()
    record(actor=actor, action=actions.REHEARSED, subject=study, details={**asdict(planted), "seed": bot_run.seed})
    transaction.on_commit(partial(send, bot_run))
    return bot_run


@transaction.atomic
def stop_rehearsal(study: Study, *, actor: User) -> bool:
    """Send no further bots; those on their way finish. False: there was nothing to stop."""
    locked(study, by=actor, no_key=True)
    walking = BotRun.objects.filter(study__rehearsal_of=study, status=BotRunStatus.RUNNING)
    if not BotRun.end(walking, status=BotRunStatus.STOPPED):
        return False
    count_everyone(Study.objects.get(rehearsal_of=study))
    record(actor=actor, action=actions.REHEARSAL_STOPPED, subject=study)
    return True


@transaction.atomic
def delete_rehearsal(study: Study, *, actor: User) -> bool:
    """Delete the sandbox copy with everything in it. False: there was none."""
    if not _delete_sandbox(study, by=actor):
        return False
    record(actor=actor, action=actions.REHEARSAL_DELETED, subject=study)
    return True


def _delete_sandbox(study: Study, *, by: User) -> bool:
    """The study is held first: its sandbox copy is made, stopped, finished and deleted by one request at a time."""
    locked(study, by=by, no_key=True)
    rehearsals = Study.objects.filter(rehearsal_of=study)
    for one in rehearsals:  # people are held before their study everywhere
        let_steps_end(one)
    # Bots who come in at this moment wait for the lock, and then find that the study is gone.
    sandbox = rehearsals.select_for_update().first()
    if sandbox is None:
        return False
    let_steps_end(sandbox)  # of those who came in before it was locked
    Participant.objects.filter(study=sandbox).delete()
    sandbox.status, sandbox.protocol = StudyStatus.DRAFT, None
    sandbox.save()
    sandbox.delete()
    return True


def _unknown() -> MediaFacts:
    return {"id": str(uuid4()), "media_type": "video/mp4", "sha256": "", "duration_seconds": UNKNOWN_SECONDS}
