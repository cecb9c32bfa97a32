"""Where a study begins: from nothing, from a file, or as a copy of another."""

import re
from collections.abc import Mapping
from http import HTTPStatus

from django.contrib import messages
from django.core.files import File
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.access import require_role, user_of
from surveys.access import OWNER_ROLES, access_own_study
from surveys.builder.frame import typed_by
from surveys.drafting.forms import DraftForm
from surveys.drafting.starter import starter_document
from surveys.errors import DefinitionError, SurveyError
from surveys.languages.offered import LANGUAGE_NAMES
from surveys.models import Study
from surveys.protocols import definition_for, files_for
from surveys.studies.examples import EXAMPLES, study_from_example
from surveys.studies.exchange import duplicate_study, free_slug, import_study, read_upload, slug_from, with_slug
from surveys.studies.gallery import study_from_template, templates
from surveys.studies.services import create_study
from surveys.study_file import define

KINDS = (
    ("experiment", gettext_lazy("An experiment: two arms with a lecture each, to find what difference it makes")),
    ("survey", gettext_lazy("A survey, no experiment: one group, to find how many say yes")),
)


@require_role(*OWNER_ROLES)
@require_http_methods(["GET", "HEAD", "POST"])
def new_study(request: HttpRequest) -> HttpResponse:
    """A draft that is valid from the first minute, with gaps to fill."""
    form = DraftForm(
        {"kind": "experiment", **typed_by(request)} if request.method == "POST" else {"kind": "experiment", "languages": ["en"]},
        languages=("en",),
    )
    begin_with = {one.name: study_from_template for one in templates()} | dict.fromkeys(EXAMPLES, study_from_example)
    if (name := request.POST.get("example", "")) in begin_with:
        study = begin_with[name](name, owner=user_of(request))
        messages.success(request, _("The study is there, a draft of your own. This is what is left to do."))
        return redirect("surveys:build", study.slug)
    if request.method == "POST":
        title = form.line("title", missing=_("Write a title."))
        languages = [code for code in LANGUAGE_NAMES if code in form.several("languages")]
        if not languages:
            form.error("languages", _("Choose at least one language."))
        kind = form.choice("kind", [name for name, _label in KINDS], missing=_("Choose what the study is."))
        slug = _slug(form, suggestion=title or "study")
        if not form.summary:
            try:
                definition = define(starter_document(slug=slug, title=title, languages=languages, survey=kind == "survey"))
                study = create_study(definition=definition, owner=user_of(request))
            except DefinitionError as error:
                _tell(form, error)
            else:
                messages.success(request, _("The study is there. This is what is left to do."))
                return redirect("surveys:build", study.slug)
    offered = [(one.name, one.about.in_language(get_language() or "en"), one.source) for one in templates()]
    context = {"kinds": KINDS, "languages": list(LANGUAGE_NAMES.items()), "examples": EXAMPLES, "templates": offered}
    return _page(request, "surveys/builder/new.html", form, context)


@require_role(*OWNER_ROLES)
@require_http_methods(["GET", "HEAD", "POST"])
def import_page(request: HttpRequest) -> HttpResponse:
    """A draft from a study file, or from a ZIP file with its media."""
    form = DraftForm(typed_by(request) if request.method == "POST" else {}, languages=("en",))
    if request.method == "POST":
        upload = request.FILES.get("file")
        if upload is None:
            form.error("file", _("Choose a study file or a ZIP file."))
        else:
            try:
                study = _imported(request, upload, form)
            except SurveyError as error:
                _tell(form, error)
            else:
                return redirect("surveys:build", study.slug)
    return _page(request, "surveys/builder/import.html", form, {})


@require_role(*OWNER_ROLES)
@require_http_methods(["GET", "HEAD", "POST"])
def duplicate(request: HttpRequest, slug: str) -> HttpResponse:
    """A copy of a study as a new draft of one's own."""
    user = user_of(request)
    seat = access_own_study(user, slug)
    if request.method == "POST":
        form = DraftForm(typed_by(request), languages=("en",))
        chosen = _slug(form, suggestion="")
        if not form.summary:
            try:
                original = definition_for(seat)
                copy = duplicate_study(original, files=files_for(seat), slug=chosen, owner=user)
            except SurveyError as error:
                _tell(form, error)
            else:
                messages.success(request, _("This is the copy."))
                if original.entry.names_a_study_of_a_panel:
                    messages.warning(request, _("Its ways in still name the other study at the panel. Change them on Ways in."))
                return redirect("surveys:build", copy.slug)
    else:
        original_slug = re.sub(r"^copy-of-(.+?)(-\d{1,3})?$", r"\1", slug)
        wanted = free_slug(f"copy-of-{original_slug}"[:50].rstrip("-"))
        form = DraftForm({"slug": wanted}, languages=("en",))
    return _page(request, "surveys/builder/duplicate.html", form, {"study": seat.study})


def _imported(request: HttpRequest, upload: File, form: DraftForm) -> Study:  # type: ignore[type-arg]
    definition, media, ignored, held = read_upload(upload, name=str(upload.name))
    with held:
        if form.line("slug"):
            definition = with_slug(definition, _slug(form, suggestion=""))
        study = import_study(definition, media=media, owner=user_of(request))
    messages.success(request, _("The study was imported with %(count)d files.") % {"count": len(media)})
    if ignored:
        names = ", ".join(ignored[:20])
        messages.warning(request, _("Not part of the study, and left out: %(names)s.") % {"names": names})
    return study


def _slug(form: DraftForm, *, suggestion: str) -> str:
    """The chosen address, or one made from the title."""
    typed = form.line("slug", missing="" if suggestion else _("Write an address."))
    if not typed:
        return slug_from(suggestion)
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{1,49}", typed):
        form.error("slug", _("Use 2 to 50 small letters, digits and hyphens."))
    return typed


def _tell(form: DraftForm, error: SurveyError) -> None:
    """All problems; whether an address is free is known only when the study is stored."""
    for problem in error.problems:
        form.problem(problem, field="slug" if problem.startswith("slug: ") else "")


def _page(request: HttpRequest, template: str, form: DraftForm, context: Mapping[str, object]) -> HttpResponse:
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.summary else HTTPStatus.OK
    return render(request, template, {**context, "form": form, "fields": form.root, "errors": form.summary}, status=status)
