"""The ledger begins when a study with a privacy budget is closed: a source, the approved budget, and its first snapshot."""

from analysis.ledger.services import open_budget
from analysis.models import Source
from analysis.sources.services import take_snapshot
from surveys.batches.selectors import agreed_versions
from surveys.models import ENDED, Study
from surveys.protocols import frozen_protocol, protocol_in_force
from surveys.questions.plans import PrivacyBudget


def agreed_budget(study: Study) -> PrivacyBudget | None:
    """The budget to which everybody agreed: the smallest of all versions of the protocol under which somebody took part.

    None as soon as one of them knew no budget: these people were never told of questions about their data.
    """
    found = [frozen_protocol(version).definition.privacy_budget for version in {protocol_in_force(study).id, *agreed_versions(study)}]
    budgets = [budget for budget in found if budget is not None]
    if len(budgets) < len(found):
        return None
    return PrivacyBudget(epsilon=min(one.epsilon for one in budgets), delta=min(one.delta for one in budgets))


def open_when_closed(sender: object, *, study_id: int, **kwargs: object) -> None:
    """In the transaction that lets the last people of a closed study into its numbers."""
    study = Study.objects.get(pk=study_id)
    if study.status in ENDED and (budget := agreed_budget(study)) is not None:
        source = Source.objects.create(study=study)
        open_budget(source, epsilon=budget.epsilon, delta=budget.delta)
        take_snapshot(source)
