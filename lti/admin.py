"""Course platforms in the admin: administrators register them, with what the platform shows when the tool was added there."""

from typing import ClassVar

from django.contrib import admin
from django.db import models
from django.forms import ModelForm
from django.http import HttpRequest

from accounts.access import user_of
from accounts.admin import SettingsAdmin
from audit.services import record
from lti import actions
from lti.models import Platform


@admin.register(Platform)
class PlatformAdmin(SettingsAdmin):
    """Each change is in the audit log."""

    list_display = ("name", "issuer", "client_id", "deployment_id")
    formfield_overrides: ClassVar = {models.URLField: {"assume_scheme": "https"}}

    def save_model(self, request: HttpRequest, obj: Platform, form: "ModelForm[Platform]", change: bool) -> None:
        if not form.changed_data:
            return
        if change:
            self.write(obj, form)
        else:
            super().save_model(request, obj, form, change)
        action = actions.PLATFORM_CHANGED if change else actions.PLATFORM_ADDED
        record(actor=user_of(request), action=action, subject=obj, details={"fields": sorted(form.changed_data)})

    def delete_model(self, request: HttpRequest, obj: Platform) -> None:
        record(actor=user_of(request), action=actions.PLATFORM_REMOVED, subject=obj, details={"issuer": obj.issuer})
        super().delete_model(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Platform | None = None) -> bool:
        """One by one: each removal is recorded."""
        return obj is not None and super().has_delete_permission(request, obj)
