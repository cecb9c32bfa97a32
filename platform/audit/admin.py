"""The log, to be read."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from audit.models import Entry


@admin.register(Entry)
class EntryAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Nothing here can be added, changed or deleted."""

    list_display = ("sequence", "at", "actor_name", "action", "subject_kind", "subject_id")
    list_filter = ("action", "subject_kind")
    search_fields = ("actor_name", "subject_id")
    ordering = ("-sequence",)
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
