"""The page of codes: entry codes are read from files or made here, completion codes are checked. The QR code of a study's link."""

from collections.abc import Callable, Mapping, Sequence

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import require_role, user_of
from accounts.models import Role, User
from audit.services import record_once_a_day
from candor.written_numbers import number_in_digits
from surveys import actions
from surveys.access import access_own_study, access_study
from surveys.errors import SurveyError
from surveys.media.language_files import code_to_speak
from surveys.models import RUNNING, EntryCode, Study
from surveys.questions.sections import SECTION
from surveys.recruitment.code_files import MAXIMUM_BYTES
from surveys.recruitment.code_lists import CodesError, checked_codes, read_codes
from surveys.recruitment.made_codes import MOST, SEED, Slip, made_codes, new_seed, qr_svg, slips, table_for_letters
from surveys.recruitment.selectors import (
    all_came_one_way,
    definition_shown,
    media_shown,
    path_for_participants,
    refused_tries_shown,
    spent_codes_shown,
    way_of_codes,
)
from surveys.recruitment.services import add_entry_codes, check_completion_codes, known_codes

Errors = Sequence[Mapping[str, str]]


@require_role(*Role)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def codes(request: HttpRequest, slug: str) -> HttpResponse:
    """Personal entry codes come in or are made; completion codes that students hand in are checked."""
    user = user_of(request)
    study = access_own_study(user, slug).study
    if request.method == "POST":
        return POSTS.get(request.POST.get("action", ""), _show_file)(request, study, user)
    record_once_a_day(actor=user, action=actions.CODES_OPENED, subject=study)
    return _page(request, study)


@require_role(*Role)
@require_safe
def link_qr(request: HttpRequest, slug: str) -> HttpResponse:
    """The QR code of the study's own link, for slides and posters."""
    study = access_study(user_of(request), slug).study
    return HttpResponse(qr_svg(request.build_absolute_uri(path_for_participants(study))), content_type="image/svg+xml")


def _page(
    request: HttpRequest, study: Study, *, errors: Errors = (), lines: Sequence[str] = (), typed: str = "", **context: object
) -> HttpResponse:
    context |= {
        "study": study,
        "errors": errors,
        "error_of": {error["field"]: error["message"] for error in errors},
        "lines": lines,
        "count_typed": typed,
        "code_count": EntryCode.objects.filter(study=study).count(),
        "spent_count": spent_codes_shown(study),
        "counts_in_tens": study.status in RUNNING,
        "several_ways": not all_came_one_way(study),
        "refused_count": refused_tries_shown(study),
        "takes_codes": any(way.way.takes_code for way in definition_shown(study).entry.every_way),
        "sections": list(definition_shown(study).sections.items()),
        "seed": new_seed(),
        "most": MOST,
    }
    return render(request, "surveys/investigator/codes.html", context, status=422 if errors else 200)


def _show_file(request: HttpRequest, study: Study, user: User) -> HttpResponse:
    """Show how a file was understood. Nothing is stored: the page itself carries the codes to the click that adds them."""
    upload = request.FILES.get("file")
    if upload is None or (upload.size or 0) > MAXIMUM_BYTES:
        return _page(request, study, errors=[{"field": "file", "message": gettext("Choose a file with codes of at most 5 MB.")}])
    try:
        found = read_codes(upload, source=str(upload.name))
    except CodesError as error:
        return _page(request, study, errors=[{"field": "file", "message": error.message}], lines=error.lines)
    context = {
        "study": study,
        "found": found,
        "file_name": upload.name,
        "first": found.codes[:5],
        "known": known_codes(study, codes=found.codes),
        "codes": " ".join(found.codes),
    }
    return render(request, "surveys/investigator/codes_read.html", context)


def _add(request: HttpRequest, study: Study, user: User) -> HttpResponse:
    try:
        added = add_entry_codes(study, codes=checked_codes(request.POST.get("codes", "").split()), actor=user)
    except SurveyError as error:
        return _page(request, study, errors=[{"field": "file", "message": str(error)}])
    said = ngettext("%(count)d new code was added.", "%(count)d new codes were added.", added)
    messages.success(request, said % {"count": added})
    return redirect("surveys:codes", study.slug)


def _make(request: HttpRequest, study: Study, user: User) -> HttpResponse:
    """The new codes as a sheet of slips, this once."""
    made = _made(request, study, user)
    if isinstance(made, HttpResponse):
        return made
    definition = definition_shown(study)
    language = definition.languages[0]
    context = {
        "study": study,
        "slips": made,
        "address": _address(request, study, section=request.POST.get(SECTION, "")),
        "section": request.POST.get(SECTION, ""),
        "slips_language": language,
        "spoken": code_to_speak(definition, media_shown(study, definition), language),
        "title": definition.title.in_language(language),
        "seed": request.POST["seed"],
    }
    return render(request, "surveys/investigator/codes_made.html", context)


def _table(request: HttpRequest, study: Study, user: User) -> HttpResponse:
    """The codes of the sheet as a file for letters."""
    made = _made(request, study, user)
    if isinstance(made, HttpResponse):
        return made
    name = f"codes-{study.slug}.csv"
    return HttpResponse(
        table_for_letters(made), content_type="text/csv; charset=utf-8", headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


def _made(request: HttpRequest, study: Study, user: User) -> list[Slip] | HttpResponse:
    """The codes that follow from the page's seed, now good for this study; or the page of codes with what is wrong."""
    typed, seed = request.POST.get("count", "").strip(), request.POST.get("seed", "")
    count = number_in_digits(typed) or 0
    if not 1 <= count <= MOST:
        message = gettext("Enter how many codes you need: a whole number from 1 to %(most)s.") % {"most": MOST}
        return _page(request, study, errors=[{"field": "count", "message": message}], typed=typed)
    if not SEED.fullmatch(seed):
        message = gettext("This page was incomplete. Make the codes once more.")
        return _page(request, study, errors=[{"field": "count", "message": message}], typed=typed)
    section = request.POST.get(SECTION, "")
    if section and section not in definition_shown(study).sections:
        message = gettext("Choose one from the list.")
        return _page(request, study, errors=[{"field": SECTION, "message": message}], typed=typed)
    made = made_codes(study.slug, seed=seed, count=count)
    add_entry_codes(study, codes=made, actor=user)
    return slips(made, address=_address(request, study, section=section))


def _check(request: HttpRequest, study: Study, user: User) -> HttpResponse:
    lines = [line.strip() for line in request.POST.get("codes", "").splitlines() if line.strip()][:5000]
    return _page(request, study, checked=check_completion_codes(study, codes=lines, actor=user))


def _address(request: HttpRequest, study: Study, *, section: str = "") -> str:
    return request.build_absolute_uri(path_for_participants(study, section=section, way=way_of_codes(definition_shown(study))))


POSTS: Mapping[str, Callable[[HttpRequest, Study, User], HttpResponse]] = {
    "add": _add,
    "make": _make,
    "table": _table,
    "check": _check,
}
