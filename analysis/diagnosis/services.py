"""Asking for a diagnosis, stopping it, and deleting it."""

import secrets
from dataclasses import asdict, dataclass, replace
from functools import partial

from django.db import transaction
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from analysis import actions
from analysis.diagnosis.answers import YES_NO, designs
from analysis.models import Diagnosis, DiagnosisStatus
from audit.services import record
from candor.arguments import share_in_arm
from jobs.tasks import send
from surveys.definition import StudyDefinition
from surveys.errors import SurveyError
from surveys.lifecycle.steps import locked
from surveys.models import Study

MOST_PEOPLE = 1_000_000
FEWEST_STUDIES, MOST_STUDIES = 2, 100_000


class DiagnosisError(SurveyError, ValueError):
    title = gettext_lazy("This diagnosis is not possible")
    advice = gettext_lazy("Change the numbers and try again; nothing was changed.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The people who are expected, in proportions, and how many studies are simulated for each setting."""

    people: int
    prevalence: float
    effect: float
    cheater_proportion: float
    drop_out: float
    studies: int
    intraclass_correlation: float = 0.0
    answer: str | None = None
    """The address of an answer that stands for yes; None for the usual subject of `analysis.diagnosis.answers`."""

    def __post_init__(self) -> None:
        for found, fewest, most in ((self.people, 1, MOST_PEOPLE), (self.studies, FEWEST_STUDIES, MOST_STUDIES)):
            if not fewest <= found <= most:
                raise DiagnosisError(
                    _("Expected a whole number from %(fewest)s to %(most)s, found %(found)s.")
                    % {"fewest": fewest, "most": number_format(most, force_grouping=True), "found": found}
                )
        for share in (self.prevalence, self.cheater_proportion, self.drop_out, self.intraclass_correlation):
            if not 0 <= share <= 1:
                raise DiagnosisError(_("Expected a share from 0 to 1, found %(found)s.") % {"found": number_format(f"{share:g}")})
        if self.cheater_proportion == 1:
            raise DiagnosisError(_("Nothing can be found when nobody is honest: expected fewer cheaters than 100 %."))
        if not 0 <= (treated := share_in_arm(self.prevalence, self.effect)) <= 1:
            raise DiagnosisError(
                _("Prevalence and effect together must lie between 0 and 1, found %(found)s.") % {"found": number_format(f"{treated:g}")}
            )


@transaction.atomic
def diagnose(study: Study, *, definition: StudyDefinition, asked: Asked, actor: User) -> Diagnosis:
    """Simulate the design of `definition`; the new diagnosis takes the place of an older one."""
    possible = designs(definition)
    answer = next(iter(possible), YES_NO) if asked.answer is None else asked.answer
    if answer not in possible:
        raise DiagnosisError(
            _("Expected one of %(possible)s as the answer, found %(found)s.")
            % {"possible": ", ".join(address or _("none") for address in possible), "found": answer[:110] or _("none")}
        )
    design, asked = possible[answer], replace(asked, answer=answer)
    if design.is_survey and not design.identification.prevalence:
        raise DiagnosisError(_("This die leaves open how many truly say yes, so that no study estimates it and none can be diagnosed."))
    if definition.in_sections and asked.people < (fewest := 2 * len(definition.sections)):
        raise DiagnosisError(
            _("The study has %(sections)d sections: expected %(fewest)d people or more, found %(found)d.")
            % {"sections": len(definition.sections), "fewest": fewest, "found": asked.people}
        )
    locked(study, by=actor, no_key=True)
    Diagnosis.objects.filter(study=study).delete()
    found = Diagnosis(
        study=study,
        design=design.to_document(),
        cluster_size=asked.people / len(definition.sections) if definition.in_sections else 1.0,
        seed=secrets.randbits(32),
        due_at=timezone.now(),
        **asdict(asked),
    )
    found.full_clean()
    found.save()
    record(actor=actor, action=actions.DIAGNOSED, subject=study, details={**asdict(asked), "seed": found.seed})
    transaction.on_commit(partial(send, found))
    return found


@transaction.atomic
def stop_diagnosis(study: Study, *, actor: User) -> bool:
    """Simulate no further studies; what is there stays. False: there was nothing to stop."""
    locked(study, by=actor, no_key=True)
    if not Diagnosis.end(Diagnosis.objects.filter(study=study, status=DiagnosisStatus.RUNNING), status=DiagnosisStatus.STOPPED):
        return False
    record(actor=actor, action=actions.DIAGNOSIS_STOPPED, subject=study)
    return True


@transaction.atomic
def delete_diagnosis(study: Study, *, actor: User) -> bool:
    """False: there was none."""
    locked(study, by=actor, no_key=True)
    deleted, _by_model = Diagnosis.objects.filter(study=study).delete()
    if not deleted:
        return False
    record(actor=actor, action=actions.DIAGNOSIS_DELETED, subject=study)
    return True
