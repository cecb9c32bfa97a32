"""An arm of every kind of stimulus, for tests; no file and no address names an arm that people could see."""

from copy import deepcopy
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.test import Client
from django.urls import reverse

from surveys.models import Study
from tests.factories import follow, page_of, participant_of

NOTHING: dict[str, Any] = {"name": "nothing", "label": "Nothing"}
VIDEO = {"sources": ["talk.mp4"]}
READING = {"text": {"en": "See ![A rising curve](curve.png).", "de": "Sieh ![Eine steigende Kurve](curve.png)."}, "pictures": ["curve.png"]}
IMAGE = {"picture": "map.png", "alternative": {"en": "A map of the town.", "de": "Ein Stadtplan."}, "seconds": 15}
AUDIO = {"sources": ["talk.mp3"], "transcript": {"en": "Hello **you**.", "de": "Hallo **du**."}}
TASK = {
    "text": {"en": "Sort the cards.", "de": "Sortiere die Karten."},
    "address": "https://task.example.org/cards?study=7&back={return}",
    "seconds": 40,
}
PAGES = [
    {"name": "first", "reading": READING | {"seconds": 1}},
    {"name": "second", "audio": AUDIO | {"sources": ["second.mp3"]}},
    {"name": "third", "task": TASK},
]
OF_A_KIND: dict[str, dict[str, Any]] = {
    "video": {"video": VIDEO},
    "reading": {"reading": READING},
    "image": {"image": IMAGE},
    "audio": {"audio": AUDIO},
    "task": {"task": TASK},
    "pages": {"pages": PAGES},
}
EVERY_ARM = [NOTHING, *({"name": f"arm-{kind}", "label": kind, **shown} for kind, shown in OF_A_KIND.items())]


def arms_with(*kinds: str) -> dict[str, Any]:
    """The changes that make a study of these arms and a control that shows nothing."""
    named = deepcopy([NOTHING, *(arm for arm in EVERY_ARM if arm["label"] in kinds)])
    return {
        "arms": named,
        "control": "nothing",
        "allocation": {"planned_participants": 48, "scheme": "permuted_block", "block_multiples": [1]},
    }


def in_arm(study: Study, arm: str, *, language: str = "en") -> Client:
    """Somebody on the first page of this arm."""
    for _ in range(48):
        client = Client()
        follow(client, study, until="video", answers={"welcome": {"language": language}})
        if participant_of(client).arm == arm:
            return client
    raise AssertionError(f"chance never drew {arm}")


def hidden_fields(response: Any) -> dict[str, str]:
    """The hidden fields of a page of an arm, without the CSRF token."""
    found = page_of(response).xpath('//main//input[@type="hidden"]')
    return {one.get("name"): one.get("value") for one in found if one.get("name") != "csrfmiddlewaretoken"}


def way_back(response: Any) -> str:
    """The path by which the other site sends somebody back, as it reads it from the address."""
    (address,) = page_of(response).xpath("//a[@data-leave]/@href")
    (back,) = parse_qs(urlsplit(address).query)["back"]
    return urlsplit(back).path


def return_address(study: Study, ticket: str) -> str:
    return reverse("surveys:return", args=[study.slug, ticket])
