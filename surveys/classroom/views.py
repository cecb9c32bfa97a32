"""The pages of a class that tries the die: for lecturers, for the students' telephones, and for the screen that all see."""

from http import HTTPStatus

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from surveys.batches.rules import LEAST
from surveys.classroom.dice import FACES, dice, die_of
from surveys.classroom.questions import QUESTIONS
from surveys.classroom.selectors import half_for_newcomer, room_of_today, totals_shown
from surveys.classroom.services import add_answer, open_room
from surveys.errors import ClassRoomError
from surveys.journey.language import in_every_language
from surveys.languages.offered import LANGUAGE_NAMES
from surveys.models import ClassRoom
from surveys.recruitment.made_codes import qr_svg

COOKIE = "candor_class_room"
HALF_COOKIE = "candor_class_half"
HALVES = tuple(map(str, range(len(FACES))))
DAY_SECONDS = 24 * 60 * 60


@in_every_language
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def in_class(request: HttpRequest) -> HttpResponse:
    """How to use Candor in a lecture, a button that opens a room, and a field for people who have a room's code."""
    errors = []
    if code := request.GET.get("code", "").strip():
        try:
            return redirect("surveys:class_room", code=room_of_today(code).code)
        except Http404 as error:
            errors = [{"field": "code", "message": str(error)}]
    if request.method == "POST":
        try:
            return redirect("surveys:class_screen", code=open_room(request.POST.get("question", "")).code)
        except ClassRoomError as error:
            errors = [{"field": "question", "message": str(error)}]
    context = _languages() | {"questions": QUESTIONS.items(), "errors": errors, "code": code, "fewest": len(FACES) * LEAST}
    return render(request, "surveys/classroom/lecturers.html", context, status=HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.OK)


@in_every_language
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def class_room(request: HttpRequest, code: str) -> HttpResponse:
    """A student's page: the die, the question, and after the answer a word of thanks. A browser answers once.

    Its die stays the same as long as the browser is open, because the page that is loaded again has the face that was rolled.
    """
    room = room_of_today(code)
    if request.COOKIES.get(COOKIE) == room.code:
        return render(request, "surveys/classroom/thanks.html", _languages())
    errors = []
    if request.method == "POST":
        sent, answer = request.POST.get("half", ""), request.POST.get("answer", "")
        if sent not in HALVES or answer not in ("yes", "no"):
            errors = [{"field": "answer", "message": _("Choose an answer")}]
        else:
            try:
                add_answer(room.code, half=int(sent), yes=answer == "yes")
            except ClassRoomError as error:
                errors = [{"field": "", "message": str(error)}]
            else:
                return _answered(room)
    mine = request.COOKIES.get(HALF_COOKIE, "")
    half = int(mine) if mine in HALVES else half_for_newcomer(room)
    context = _languages() | {"room": room, "question": QUESTIONS[room.question], "half": half, "die": die_of(half), "errors": errors}
    page = render(request, "surveys/classroom/room.html", context, status=HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.OK)
    _remember(page, HALF_COOKIE, str(half), address=request.path, seconds=None)
    return page


@in_every_language
@never_cache
@require_safe
def class_screen(request: HttpRequest, code: str) -> HttpResponse:
    """The page for the projector: the way in, and what the answers tell, a batch at a time."""
    room = room_of_today(code)
    address = request.build_absolute_uri(reverse("surveys:class_room", args=[room.code]))
    halves = [die | total for die, total in zip(dice(), totals_shown(room), strict=True)]
    context = _languages() | {
        "room": room,
        "question": QUESTIONS[room.question],
        "address": address,
        "qr": qr_svg(address),
        "halves": halves,
    }
    return render(request, "surveys/classroom/screen.html", context | {"fewest": len(FACES) * LEAST})


@never_cache
@require_safe
def class_batches(request: HttpRequest, code: str) -> JsonResponse:
    """The complete batches, which the screen asks for: for each half, how many people answered, and how many with yes."""
    return JsonResponse({"batches": room_of_today(code).batches})


def _languages() -> dict[str, object]:
    """The switch of a page, which is in the language that is spoken now."""
    return {"language": get_language(), "languages": list(LANGUAGE_NAMES.items())}


def _answered(room: ClassRoom) -> HttpResponse:
    """The browser remembers for a day that it answered in this room, not what."""
    address = reverse("surveys:class_room", args=[room.code])
    response = redirect(address)
    _remember(response, COOKIE, room.code, address=address, seconds=DAY_SECONDS)
    return response


def _remember(response: HttpResponse, name: str, value: str, *, address: str, seconds: int | None) -> None:
    """Leave a cookie for this room alone, for so long or until the browser is closed."""
    response.set_cookie(name, value, max_age=seconds, path=address, secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Lax")
