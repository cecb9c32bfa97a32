"""Access to data sets: who may see one, ask about it, decide about it. Every fetch goes through `access_data_set`, as with studies."""

from dataclasses import dataclass
from functools import cached_property

from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils import timezone

from accounts.models import Role, User
from analysis import actions
from analysis.models import Charge, DataSet, DataSetAnalyst, DataSetStatus, Holds, Source
from audit.selectors import entries_about
from surveys.access import Seat, StudyRole
from surveys.retention.selectors import REMINDER_DAYS

NO_DATA_SET = "There is no such data set."


@dataclass(frozen=True)
class DataSetSeat:
    """A person and a data set. It answers the questions that `surveys.access.Seat` answers of a study, by the same names."""

    user: User
    data_set: DataSet

    @cached_property
    def role(self) -> StudyRole | None:
        if self.data_set.owner_id == self.user.pk:
            return StudyRole.OWNER
        if self.user.role == Role.ADMINISTRATOR:
            return StudyRole.ADMINISTRATOR
        named = DataSetAnalyst.objects.filter(data_set=self.data_set, user=self.user, approved_on__isnull=False)
        return StudyRole.ANALYST if self.data_set.status == DataSetStatus.APPROVED and named.exists() else None

    @property
    def may_see_study(self) -> bool:
        """Whether pages beyond those of questions are open."""
        return self.role != StudyRole.ANALYST

    @property
    def may_change(self) -> bool:
        return self.role in (StudyRole.OWNER, StudyRole.ADMINISTRATOR)

    @property
    def has_the_files(self) -> bool:
        """Whether this person brought the data, and may read exact numbers about them: administrators care for the machine alone."""
        return self.role == StudyRole.OWNER

    @property
    def may_ask(self) -> bool:
        return self.may_change or self.role == StudyRole.ANALYST

    @property
    def may_read_ledger(self) -> bool:
        """Its owner and IRB officers, but none who is named as an analyst."""
        return self.may_change or (self.user.role == Role.IRB_OFFICER and not self.is_named)

    @cached_property
    def is_named(self) -> bool:
        """Whether this person accepted to be an analyst; perhaps an officer has not approved them yet."""
        return DataSetAnalyst.objects.filter(data_set=self.data_set, user=self.user).exists()

    @cached_property
    def may_review(self) -> bool:
        """An IRB officer who neither brought the data nor is named as an analyst of them, and who never prepared them."""
        if self.user.role != Role.IRB_OFFICER or self.role is not None or self.is_named:
            return False
        if Charge.objects.filter(asked_by=self.user, budget__source__data_set=self.data_set).exists():
            return False
        return not entries_about(self.data_set).filter(actor_id=self.user.pk, action__in=actions.PREPARATION).exists()


def seat_at(source: Source, user: User) -> Seat | DataSetSeat:
    """The person and the study or data set that they ask about."""
    whole = source.whole
    return DataSetSeat(user, whole) if isinstance(whole, DataSet) else Seat(user, whole)


def data_sets_of(user: User) -> QuerySet[DataSet]:
    """The data sets that this person may see: their own, those about which they may ask; for IRB officers every one that was ever
    submitted; for administrators all.
    """
    every = DataSet.objects.select_related("owner", "decided_by")
    if user.role == Role.ADMINISTRATOR:
        return every
    named = DataSetAnalyst.objects.filter(user=user, approved_on__isnull=False).values("data_set")
    theirs = Q(owner=user) | Q(status=DataSetStatus.APPROVED, pk__in=named)
    if user.role == Role.IRB_OFFICER:
        theirs |= Q(submitted_on__isnull=False)
    return every.filter(theirs)


def data_sets_as_analyst(user: User) -> QuerySet[DataSet]:
    """The data sets of which this person accepted to be an analyst. They read neither the ledger nor the log, also while they wait."""
    named = DataSetAnalyst.objects.filter(user=user).values("data_set")
    found = DataSet.objects.exclude(owner=user)
    return found.none() if user.role == Role.ADMINISTRATOR else found.filter(pk__in=named)


def waiting_data_sets(officer: User) -> list[tuple[DataSet, bool]]:
    """Data sets that wait for an officer, or of which an analyst does, the oldest first; and whether another officer must decide."""
    newcomers = DataSetAnalyst.objects.filter(approved_on=None).values("data_set")
    waits = Q(status=DataSetStatus.WAITING) | Q(status=DataSetStatus.APPROVED, pk__in=newcomers)
    found = data_sets_of(officer).filter(waits, forgotten_on=None).order_by("submitted_on", "pk")
    return [(one, not DataSetSeat(officer, one).may_review) for one in found]


def data_sets_to_come(user: User) -> QuerySet[DataSet]:
    """The data sets of which this person accepted to be an analyst, and which they do not see before an officer has approved them."""
    return data_sets_as_analyst(user).exclude(pk__in=data_sets_of(user).values("pk"))


def sent_back(user: User) -> QuerySet[DataSet]:
    """The data sets of this person that an officer sent back, until they ask again."""
    return DataSet.objects.filter(owner=user, status=DataSetStatus.DRAFT, forgotten_on=None).exclude(reason="").order_by("decided_on", "pk")


def deleted_soon(user: User) -> QuerySet[DataSet]:
    """The data sets of this person whose rows are deleted within 30 days."""
    last = timezone.localdate() + REMINDER_DAYS
    return DataSet.objects.filter(owner=user, forgotten_on=None, delete_on__lte=last).order_by("delete_on", "pk")


def access_record_set(user: User, slug: str, *, needs: str = "") -> DataSetSeat:
    """The same for a data set that holds records."""
    seat = access_data_set(user, slug, needs=needs)
    if seat.data_set.holds != Holds.RECORDS:
        raise Http404(NO_DATA_SET)
    return seat


def access_to_leave(user: User, slug: str) -> DataSetSeat:
    """The same for somebody who is named as an analyst, also while they wait for an officer and see no page of it."""
    named = DataSetAnalyst.objects.filter(user=user).values("data_set")
    found = DataSet.objects.select_related("owner").filter(pk__in=named, slug=slug).first()
    if found is None:
        raise Http404(NO_DATA_SET)
    return DataSetSeat(user, found)


def access_data_set(user: User, slug: str, *, needs: str = "") -> DataSetSeat:
    """The data set, if this person may see it and has the permission; the same 404 whether access is forbidden or the data set absent."""
    found = data_sets_of(user).filter(slug=slug).first()
    seat = DataSetSeat(user, found) if found else None
    if seat is None or (needs and not getattr(seat, needs)):
        raise Http404(NO_DATA_SET)
    return seat
