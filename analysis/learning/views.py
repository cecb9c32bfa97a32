"""Pages of learning analytics: where analysts land, and what a study's privacy budget allows."""

from dataclasses import asdict

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role
from analysis.learning.exactly import exactly_at
from analysis.ledger.selectors import asked_with, budget_of
from analysis.ledger.services import ask
from analysis.releases.selectors import not_covered
from analysis.sources.places import place_at
from surveys.access import access_analytics, study_in_public
from surveys.errors import SurveyError
from surveys.journey.language import asked_for
from surveys.journey.presentation import presentation
from surveys.models import ENDED
from surveys.privacy.budgets import bought_in_words, budget_in_words
from surveys.protocols import protocol_in_force

MINUTES = 5


@never_cache
@in_own_language
@require_role(*Role)
@require_safe
def analytics(request: HttpRequest, slug: str) -> HttpResponse:
    """The budget, what it means, what it does not cover, and the ways to spend it; the only page of the study that analysts begin from."""
    seat = access_analytics(user_of(request), slug)
    study = seat.study
    definition = protocol_in_force(study).definition if study.protocol_id is not None else None
    budget = definition.privacy_budget if definition else None
    context: dict[str, object] = {"study": study, "seat": seat, "budget": budget, "has_ended": study.status in ENDED}
    if definition and budget:
        context |= {
            "has_quiz": bool(definition.quiz),
            "asks_about_friends": any(question.kind == "circle" for question in definition.background),
            "meaning": budget_in_words(budget),
            "buys": bought_in_words(definition),
            "exactly": not_covered(seat),
        }
    return render(request, "analysis/learning/analytics.html", context)


@never_cache
@in_own_language
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def difficulties(request: HttpRequest, /, **where: str) -> HttpResponse:
    """The form that asks what a release of the difficulties would cost, the button that buys what was shown, and those that were bought."""
    from analysis.figures.difficulties import difficulties_figure, hardest_first
    from analysis.learning import difficulties_page as page

    user = user_of(request)
    place = place_at(user, where, needs="may_change" if request.method == "POST" else "may_see_study")
    source = place.source
    if source is None:
        return render(request, "analysis/learning/difficulties.html", place.context)
    sent = request.POST if request.method == "POST" else request.GET
    form = page.OfferForm(source, sent)
    offer, failed = None, ""
    try:
        offer = form.offer if sent else None
        if request.method == "POST" and offer is not None:
            ask(source, offer.question.document, actor=user)
            return redirect(request.path)
    except SurveyError as error:
        failed = str(error)
        if offer is not None and offer.is_noise and not form.values["reason"]:
            form.errors["reason"] = _("Write why it is to be released although it would be noise.")
    language = get_language() or "en"
    released = page.releases_of(source)
    newest = next((one for one in released if one.found), None)
    context = place.context | {
        "source": source,
        "form": form,
        "offer": offer,
        "failed": "" if form.errors else failed,
        "errors": [{"field": field, "message": message} for field, message in form.errors.items()],
        "released": released,
        "waits": any(one.asked.waits for one in released),
        "newest": newest,
        "items": hardest_first(newest.found, language) if newest and newest.found else (),
        "figure": difficulties_figure(newest.found, language) if newest and newest.found else None,
        "file": place.address("difficulties_file", number=newest.asked.charge.number) if newest else "",
        "exactly": exactly_at(place),
    }
    return render(
        request, "analysis/learning/difficulties.html", context, status=422 if failed or (request.method == "POST" and form.errors) else 200
    )


@require_role(*Role)
@require_safe
def difficulties_file(request: HttpRequest, /, number: int, **where: str) -> HttpResponse:
    """`difficulties.json` of one release: the noisy counts and everything that follows from them."""
    place = place_at(user_of(request), where, needs="may_see_study")
    source = place.source
    asked = asked_with(budget_of(source), number) if source else None
    if asked is None or asked.charge.kind != "difficulties" or asked.answer is None:
        raise Http404("There are no such difficulties.")
    document = {"study" if place.study else "data_set": place.whole.slug, "loss": asdict(asked.loss), **asked.answer}
    response = JsonResponse(document, json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="{place.whole.slug}-difficulties-{number}.json"'
    return response


@require_safe
@cache_control(public=True, max_age=MINUTES * 60)
@vary_on_headers("Accept-Language")
def feedback(request: HttpRequest, slug: str) -> HttpResponse:
    """How students did in the quiz: one page, the same bytes for everybody. No session and no cookie are read, so students may come with a
    quiz on paper, long after their data are deleted.
    """
    study = study_in_public(slug)
    protocol = protocol_in_force(study)
    shown = presentation(protocol.id, asked_for(request, study))
    if not shown.has_feedback:
        raise Http404("This study has no privacy budget, or no quiz.")
    from analysis.learning.feedback import feedback_of

    content = feedback_of(study, protocol.definition, shown.language)
    template = "surveys/participant/feedback_later.html" if content is None else "surveys/participant/feedback.html"
    with translation.override(shown.spoken):
        return render(request, template, {"study": shown, "language": shown.language, **(content or {})})


@require_safe
@cache_control(public=True, max_age=MINUTES * 60)
@vary_on_headers("Accept-Language")
def outlook(request: HttpRequest, slug: str) -> HttpResponse:
    """The released tables that students read about themselves: recommendations and classifiers. One page, the same bytes for everybody."""
    study = study_in_public(slug)
    shown = presentation(protocol_in_force(study).id, asked_for(request, study))
    if not shown.budget:
        raise Http404("This study has no privacy budget.")
    from analysis.learning.outlook import tables_of

    with translation.override(shown.spoken):
        context = {"study": shown, "language": shown.language, "tables": tables_of(study, shown.language)}
        return render(request, "surveys/participant/outlook.html", context)
