"""Studies in the admin. Drafts are edited section by section in the words of the study file; what was collected is not here at all."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from accounts.access import user_of
from surveys.models import AllocationList, ArmState, MediaFile, Protocol, Study
from surveys.sections import SECTIONS, Section, read_sections, sections_of
from surveys.services.allocation import change_arm
from surveys.services.media import MediaError, add_media_file, examine
from surveys.services.studies import change_definition, create_study, fingerprint, may_be_edited


class StudyForm(forms.ModelForm):  # type: ignore[type-arg]
    """One text per section of the study file. Whatever is wrong is shown at its section, with its line."""

    loaded = forms.CharField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = Study
        fields = ("owner", "accepts_bots")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["loaded"].initial = fingerprint(self.instance)
        for name, text in sections_of(self.instance.definition).items() if self.instance.pk else ():
            self.fields[name].initial = text
            self.fields[name].widget.attrs["rows"] = min(max(text.count("\n") + 2, 5), 40)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.instance.pk and cleaned.get("loaded") != fingerprint(Study.objects.get(pk=self.instance.pk)):
            raise forms.ValidationError(
                "Somebody else changed this study while you were editing it. Reload the page to see the new version."
            )
        definition, problems = read_sections({section.name: cleaned.get(section.name, "").replace("\r\n", "\n") for section in SECTIONS})
        for section_name, problem in problems:
            self.add_error(section_name, problem)
        if definition and self.instance.pk and definition.slug != self.instance.slug:
            self.add_error("about", f"A study keeps its slug: expected {self.instance.slug}, got {definition.slug}.")
        if definition and not self.instance.pk and Study.objects.filter(slug=definition.slug).exists():
            self.add_error("about", f"A study called {definition.slug} exists already; choose another slug.")
        return cleaned | {"definition": definition}


def _section_field(section: Section) -> forms.CharField:
    rows = max(section.example.count("\n") + 2, 5)
    widget = forms.Textarea(attrs={"rows": rows, "cols": 110, "spellcheck": "false", "class": "vLargeTextField"})
    return forms.CharField(label=section.title, help_text=section.help, initial=section.example, required=False, strip=False, widget=widget)


SectionedStudyForm = type("SectionedStudyForm", (StudyForm,), {section.name: _section_field(section) for section in SECTIONS})


class MediaFileForm(forms.ModelForm):  # type: ignore[type-arg]
    content = forms.FileField(label="Video (.mp4, .webm), captions (.vtt) or picture (.png, .jpg, .webp)")

    class Meta:
        model = MediaFile
        fields: tuple[str, ...] = ()

    def clean_content(self) -> UploadedFile:
        content: UploadedFile = self.cleaned_data["content"]
        try:
            examine(content.name or "", content)
        except MediaError as error:
            raise forms.ValidationError(str(error)) from error
        return content


class MediaFileInline(admin.TabularInline):  # type: ignore[type-arg]
    model = MediaFile
    form = MediaFileForm
    extra = 1
    readonly_fields = ("name", "media_type", "size", "duration_seconds", "current")
    fields = (*readonly_fields, "content")
    can_delete = False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_add_permission(request, obj) and obj is not None and may_be_edited(obj)


@admin.register(Study)
class StudyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """What is frozen can be read only; steps such as launching are taken on the study's own page."""

    form = SectionedStudyForm
    inlines = (MediaFileInline,)
    list_display = ("title", "slug", "status", "owner", "epsilon_per_question", "epsilon_total")
    list_filter = ("status",)
    search_fields = ("slug", "title")

    def get_queryset(self, request: HttpRequest) -> Any:
        """Rehearsals are no studies among studies."""
        return super().get_queryset(request).filter(rehearsal_of=None)

    def get_inlines(self, request: HttpRequest, obj: Study | None) -> Any:
        return self.inlines if obj else ()

    def get_fieldsets(self, request: HttpRequest, obj: Study | None = None) -> Any:
        if obj and not may_be_edited(obj):
            shown = (
                "slug",
                "title",
                "owner",
                "status",
                "accepts_bots",
                "epsilon_per_question",
                "epsilon_total",
                "launched_on",
                "closed_on",
            )
            return ((None, {"fields": (*shown, "study_file")}),)
        return (
            (None, {"fields": ("owner", "accepts_bots", "loaded")}),
            *((section.title, {"fields": (section.name,)}) for section in SECTIONS),
        )

    @admin.display(description="Study file")
    def study_file(self, study: Study) -> str:
        return "\n".join(sections_of(study.definition).values())

    def has_change_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or may_be_edited(obj))

    def has_delete_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Study, form: Any, change: bool) -> None:
        user = user_of(request)
        definition, owner, accepts_bots = form.cleaned_data["definition"], form.cleaned_data["owner"], form.cleaned_data["accepts_bots"]
        if change:
            saved = change_definition(obj, definition=definition, actor=user, owner=owner, accepts_bots=accepts_bots)
        else:
            saved = create_study(definition=definition, owner=owner, accepts_bots=accepts_bots)
        obj.__dict__.update(saved.__dict__)
        for warning in definition.warnings():
            messages.warning(request, warning)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        formset.new_objects, formset.changed_objects, formset.deleted_objects = [], [], []
        for media_form in formset.forms:
            if content := media_form.cleaned_data.get("content"):
                formset.new_objects.append(add_media_file(form.instance, name=content.name, content=content, actor=user_of(request)))


@admin.register(ArmState)
class ArmStateAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Quotas, and stopping an arm while the study runs."""

    list_display = ("study", "arm", "quota", "closed")
    readonly_fields = ("study", "arm")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: ArmState, form: Any, change: bool) -> None:
        change_arm(obj.study, arm=obj.arm, actor=user_of(request), quota=obj.quota, closed=obj.closed)


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Protocol)
class ProtocolAdmin(ReadOnlyAdmin):
    list_display = ("study", "version", "frozen_on", "sha256")


@admin.register(AllocationList)
class AllocationListAdmin(ReadOnlyAdmin):
    """The lists themselves and their nonces stay concealed here too."""

    list_display = ("study", "number", "scheme", "length", "sha256", "drawn_on")
    fields = ("study", "number", "scheme", "length", "sha256", "drawn_on")
