"""The home page, the way to everybody's first page, the page of work for administrators, and the picture in the browser's tab."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe
from django.views.generic import RedirectView

from accounts.access import in_own_language, language_of_reader, require_role, user_of
from accounts.models import Role
from config.heartbeat import is_alive, queues_without_worker
from jobs.queues import Queue
from jobs.selectors import all_work
from surveys.classroom.dice import FACES, die_of
from surveys.journey.language import of_stranger
from surveys.languages.offered import LANGUAGE_NAMES

DEMONSTRATION = {"die": die_of(0), "second_yes": len(FACES[1]["yes"]), "second_no": len(FACES[1]["no"])}
"""The dice of the two halves of the class on the home page: the reader's, and how many of six faces of the other say yes and no."""


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Strangers read it in any language, people with an account in that of their pages."""
    if not request.user.is_authenticated:
        return _of_strangers(request)
    with translation.override(language_of_reader(request)):
        return render(request, "home.html", DEMONSTRATION)


@gzip_page  # no secret is in it
def _of_strangers(request: HttpRequest) -> HttpResponse:
    language = of_stranger(request)
    with translation.override(language):
        response = render(request, "home.html", {**DEMONSTRATION, "language": language, "languages": list(LANGUAGE_NAMES.items())})
    patch_vary_headers(response, ["Accept-Language"])
    return response


@require_role(*Role)
@require_safe
def first_page(request: HttpRequest) -> HttpResponse:
    """After login officers see what waits for them, everybody else the studies."""
    return redirect("analysis:inbox" if user_of(request).role == Role.IRB_OFFICER else "surveys:studies")


class Favicon(RedirectView):
    """Browsers that know no SVG in a page's head, and readers of files without a page, ask for it here."""

    def get_redirect_url(self, *args: object, **kwargs: object) -> str:
        return static("images/favicon.svg")


@in_own_language
@require_role(Role.ADMINISTRATOR)
@require_safe
def work(request: HttpRequest) -> HttpResponse:
    kinds = all_work()
    context = {
        "kinds": kinds,
        "without_worker": ", ".join(queues := queues_without_worker()),
        "has_no_worker": len(queues) == len(Queue),
        "beat_is_silent": not is_alive("beat"),
        "is_idle": not any(one.waiting or one.running for one in kinds),
        "failed": [one for one in kinds if one.failed],
    }
    return render(request, "jobs/work.html", context)
