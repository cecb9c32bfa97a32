"""The pages of the audit log: its entries, the check of its chain, and downloads of all of it or of one study."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.dateparse import parse_date
from django.utils.formats import date_format, number_format
from django.utils.translation import get_language, gettext, gettext_lazy
from django.views.decorators.http import require_POST, require_safe
from kombu.exceptions import OperationalError

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role
from audit import actions, selectors
from audit.models import Entry
from surveys.access import access_log, access_study, studies_of
from surveys.log import services
from surveys.log.selectors import READERS, log_for, names_of_hidden
from surveys.models import Study

LONGEST_VALUE = 60
HASH = re.compile(r"[0-9a-f]{64}")


class Filter(forms.Form):
    """The filter of the log; unreadable values are errors, never ignored."""

    kind = forms.CharField(required=False)
    person = forms.CharField(required=False, max_length=150)
    study = forms.SlugField(required=False)
    since = forms.DateField(required=False)
    until = forms.DateField(required=False)
    before = forms.IntegerField(required=False, min_value=0, max_value=2**62)
    after = forms.IntegerField(required=False, min_value=0, max_value=2**62)

    def wrong(self) -> list[dict[str, str]]:
        return [{"field": field, "message": str(error)} for field, errors in self.errors.items() for error in errors]


@in_own_language
@require_role(*READERS)
@require_safe
def whole_log(request: HttpRequest) -> HttpResponse:
    """Everything that staff and the platform did."""
    asked = Filter(request.GET)
    asked.is_valid()
    slug = asked.cleaned_data.get("study")
    study = access_study(user_of(request), slug).study if slug else None
    context = {"studies": studies_of(user_of(request)).values_list("slug", "title"), "chosen_study": slug or ""}
    return _page(request, asked, study=study, template="surveys/investigator/log.html", context=context)


@in_own_language
@require_role(*Role)
@require_safe
def study_log(request: HttpRequest, slug: str) -> HttpResponse:
    """The log of one study, for people who run or review it."""
    study = access_log(user_of(request), slug).study
    asked = Filter(request.GET)
    asked.is_valid()
    return _page(request, asked, study=study, template="surveys/investigator/study_log.html", context={"study": study})


@in_own_language
@require_role(*READERS)
@require_POST
def verify_log(request: HttpRequest) -> HttpResponse:
    """Check the chain now, or have it checked."""
    try:
        if services.verify_log(actor=user_of(request)) is None:
            messages.success(request, gettext("The log is being checked. The finding stands here in a minute or so; reload the page then."))
    except OperationalError:
        messages.error(request, gettext("The worker cannot be reached now. Try again in a minute."))
    return redirect("surveys:log")


@require_role(*READERS)
@require_safe
def export_log(request: HttpRequest) -> HttpResponseBase:
    """The whole log as JSON Lines with hashes, without entries that its reader must not see."""
    lines = services.export_log(actor=user_of(request)) if request.method == "GET" else iter(())
    return _file(lines, "audit-log.jsonl")


@require_role(*Role)
@require_safe
def export_study_log(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The entries about one study, in the same form, with what they prove by themselves."""
    user = user_of(request)
    study = access_log(user, slug).study
    lines = services.export_log(study=study, actor=user) if request.method == "GET" else iter(())
    return _file(lines, f"audit-log-{study.slug}.jsonl")


def _file(lines: Iterator[str], name: str) -> HttpResponseBase:
    response = StreamingHttpResponse(lines, content_type="application/jsonl")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _page(request: HttpRequest, asked: Filter, *, study: Study | None, template: str, context: Mapping[str, object]) -> HttpResponse:
    wanted = asked.cleaned_data
    filters = log_for(
        user_of(request),
        study=study,
        kind=wanted.get("kind", ""),
        person=wanted.get("person", ""),
        since=wanted.get("since"),
        until=wanted.get("until"),
    )
    page = selectors.page_of(filters, before=wanted.get("before"), after=wanted.get("after"))
    kept = request.GET.copy()
    for name in ("before", "after"):
        kept.pop(name, None)
    checked = selectors.last_verification()
    shown = {
        "entries": list(_lines(page.entries)),
        "page": page,
        "query": kept.urlencode(),
        "is_filtered": any(kept.values()),
        "asked": {name: request.GET.get(name, "") for name in ("kind", "person", "since", "until")},
        "kinds": kinds(),
        "checked": checked,
        "finding": finding_of(checked) if checked else "",
        "is_broken": bool(checked and checked.details.get("broken_at")),
        "errors": asked.wrong(),
        "hidden": names_of_hidden(filters),
    }
    return render(request, template, {**shown, **context}, status=422 if asked.errors else 200)


def finding_of(checked: Entry) -> str:
    """The finding of a check, in the reader's language. The log keeps its own words; a reason of a break stands there as it was found."""
    intact, broken_at = checked.details.get("intact", 0), checked.details.get("broken_at")
    if broken_at and get_language() == "en":
        return str(checked.details.get("finding", ""))
    if broken_at:
        said = gettext("Entry %(number)s is not as it was written. Intact before it: %(intact)s.")
        return said % {"number": number_format(broken_at, force_grouping=True), "intact": number_format(intact, force_grouping=True)}
    said = gettext("All %(entries)s entries are as they were written.")
    return (
        gettext("The only entry is as it was written.") if intact == 1 else said % {"entries": number_format(intact, force_grouping=True)}
    )


# By the first part of an action's name; an unlisted part is its own label.
GROUPS = {
    "account": gettext_lazy("Accounts"),
    "study": gettext_lazy("Studies"),
    "results": gettext_lazy("Results"),
    "privacy_limit": gettext_lazy("Limit of privacy loss"),
    "log": gettext_lazy("This log"),
    "release": gettext_lazy("Releases"),
    "records": gettext_lazy("Protected records"),
    "ledger": gettext_lazy("Privacy budgets"),
    "source": gettext_lazy("Sources"),
    "data_set": gettext_lazy("Data sets"),
    "evidence": gettext_lazy("Evidence"),
    "platform": gettext_lazy("Course platforms"),
    "credit": gettext_lazy("Credit"),
    "webhook": gettext_lazy("Webhooks"),
}


def kinds() -> list[tuple[object, str, list[tuple[str, str]]]]:
    """The choices: groups of actions, and each action by its meaning."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, description in actions.registered().items():
        groups.setdefault(name.split(".")[0], []).append((name, gettext(description)))
    return [
        (GROUPS.get(group, group.replace("_", " ").capitalize()), f"{group}.", sorted(members, key=lambda one: one[1]))
        for group, members in groups.items()
    ]


def _lines(entries: Iterable[Entry]) -> Iterable[dict[str, object]]:
    entries = list(entries)
    names = selectors.names_of_subjects(entries)
    known = actions.registered()
    for entry in entries:
        subject = names.get((entry.subject_kind, entry.subject_id), "")
        if not subject and entry.subject_kind:
            subject = f"{entry.subject_kind.rpartition('.')[2]} {entry.subject_id}"
        details = [(key.replace("_", " "), _in_words(value)) for key, value in entry.details.items()]
        yield {
            "entry": entry,
            "sentence": gettext(known[entry.action]) if entry.action in known else entry.action,
            "subject": "" if subject == entry.actor_name else subject,
            "details": [(key, value) for key, value in details if value],
            "person": entry.actor_name or gettext("Candor itself"),
        }


def _day(value: str) -> date | None:
    """The day that a detail names as files write it."""
    try:
        return parse_date(value)
    except ValueError:
        return None


def _in_words(value: object) -> str:
    """A value of an entry's details, shortened if long; the whole of it is one click away."""
    match value:
        case None | "" | [] | {}:
            return ""
        case str() if HASH.fullmatch(value):
            return f"{value[:12]}…"
        case str() if day := _day(value):
            return date_format(day)
        case bool():
            return gettext("yes") if value else gettext("no")
        case list():
            text = ", ".join(_in_words(one) for one in value)
        case dict():
            text = ", ".join(f"{key.replace('_', ' ')} {_in_words(one)}" for key, one in value.items())
        case _:
            text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
