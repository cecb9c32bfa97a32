"""Accounts in the admin. Rights come from the role alone, so groups and single permissions are not offered."""

from importlib import import_module

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.db.models import Field, Model
from django.forms import BaseForm, ModelForm
from django.forms import Field as FormField
from django.http import HttpRequest

from accounts import actions, services
from accounts.access import user_of
from accounts.forms import NewUserForm
from accounts.models import Role, User
from audit.services import record

OF_LOGIN = [name for name in ("allauth.account", "allauth.mfa", "allauth.socialaccount") if apps.is_installed(name)]
for app in OF_LOGIN:
    import_module(f"{app}.admin")
# On their pages a second factor or a bound account could be taken from somebody without an entry in the log.
of_login = [model for model in apps.get_models() if model._meta.app_config.name in OF_LOGIN]
admin.site.unregister([Group, *filter(admin.site.is_registered, of_login)])


class ShownAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A list that is filtered by what it shows alone. By any other column, `?nonce__startswith=` would tell it letter by letter."""

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:  # type: ignore[override]
        shown = {*self.get_list_display(request), *self.get_list_filter(request)}
        return lookup.split("__")[0] in shown and super().lookup_allowed(lookup, value, request)


class SettingsAdmin(ShownAdmin):
    """Settings that others change, too: a page that was open for long changes only those that were changed on it."""

    def formfield_for_dbfield(self, db_field: "Field[object, object]", request: HttpRequest, **kwargs: object) -> FormField | None:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None:
            field.show_hidden_initial = True
        return field

    def write(self, obj: Model, form: BaseForm) -> None:
        """Write what was changed on the page into the row as it is stored now."""
        stored = self.model._default_manager.select_for_update(no_key=True).get(pk=obj.pk)
        for name in form.changed_data:
            setattr(stored, name, form.cleaned_data[name])
        stored.save()


@admin.register(User)
class UserAdmin(SettingsAdmin, DjangoUserAdmin):  # type: ignore[type-arg]
    """Accounts are switched off, not deleted: the audit log refers to them."""

    list_display = ("username", "email", "role", "is_active", "last_login")
    list_filter = ("role", "is_active")
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")
    user_change_password = services.with_its_entry(DjangoUserAdmin.user_change_password)
    fieldsets = (
        (None, {"fields": ("username", "password", "role", "is_active")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    add_form = NewUserForm
    add_fieldsets = ((None, {"classes": ("wide",), "fields": ("username", "email", "role", "password1", "password2")}),)

    def save_model(self, request: HttpRequest, obj: User, form: "ModelForm[User]", change: bool) -> None:
        role = Role(form.cleaned_data["role"])
        if not change:
            created = services.create_user(
                username=obj.username, password=form.cleaned_data["password1"], role=role, email=obj.email, actor=user_of(request)
            )
            obj.__dict__.update(created.__dict__)
            return
        if "role" in form.changed_data:
            services.change_role(user=obj, role=role, actor=user_of(request))
        self.write(obj, form)

    def log_change(self, request: HttpRequest, obj: Model, message: list[dict[str, dict[str, list[str]]]]) -> LogEntry:
        """Also called for a new password. Our log names the fields that changed, never their values."""
        fields = sorted({field for part in message for field in part.get("changed", {}).get("fields", ())})
        if fields:
            record(actor=user_of(request), action=actions.CHANGED, subject=obj, details={"fields": fields})
        return super().log_change(request, obj, message)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
