"""Studies in the admin. They are built on pages of their own; collected data are not here at all."""

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.urls import reverse

from accounts.access import user_of
from accounts.admin import SettingsAdmin, ShownAdmin
from candor.designs.privacy_words import loss
from surveys.access import Seat
from surveys.bots.services import let_bots_walk
from surveys.models import AllocationList, Protocol, Study
from surveys.sharing.services import give_study
from surveys.studies.services import may_be_edited
from surveys.study_file import dump


@admin.register(Study)
class StudyAdmin(SettingsAdmin):
    """A study's owner and whether bots may walk it. Its content is changed in its builder, and its steps are taken on its own page."""

    list_display = ("title", "slug", "status", "owner", "per_question", "in_total")
    list_filter = ("status",)
    search_fields = ("slug", "title")
    readonly_fields = ("slug", "title", "status", "per_question", "in_total", "launched_on", "closed_on", "study_file")
    fields = ("owner", "accepts_bots", *readonly_fields)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Study]:
        """Rehearsals do not appear among studies."""
        return super().get_queryset(request).filter(rehearsal_of=None)

    @admin.display(description="ε per question", ordering="epsilon_per_question")
    def per_question(self, study: Study) -> str:
        return loss(study.epsilon_per_question)

    @admin.display(description="ε in total", ordering="epsilon_total")
    def in_total(self, study: Study) -> str:
        return loss(study.epsilon_total)

    @admin.display(description="Study file")
    def study_file(self, study: Study) -> str:
        return dump(study.definition)

    def view_on_site(self, study: Study) -> str:
        return reverse("surveys:study", args=[study.slug])

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        allowed = super().has_change_permission(request, obj)
        return allowed and (obj is None or (may_be_edited(obj) and Seat(user_of(request), obj).may_change))

    def has_delete_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Study, form: "ModelForm[Study]", change: bool) -> None:
        if "accepts_bots" in form.changed_data:
            let_bots_walk(obj, accepts_bots=obj.accepts_bots, actor=user_of(request))
        if "owner" in form.changed_data:
            give_study(obj, user=obj.owner, actor=user_of(request))


class ReadOnlyAdmin(ShownAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Protocol)
class ProtocolAdmin(ReadOnlyAdmin):
    list_display = ("study", "version", "frozen_on", "sha256")


@admin.register(AllocationList)
class AllocationListAdmin(ReadOnlyAdmin):
    """The lists themselves and their nonces stay concealed here too."""

    list_display = ("study", "number", "scheme", "length", "sha256", "drawn_on")
    fields = ("study", "number", "scheme", "length", "sha256", "drawn_on")
