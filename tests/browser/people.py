"""A study that is recruiting, and people who stand where a test needs them.

The services put them there, so that a test walks only the pages that it is about.
"""

from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from django.core.files import File
from playwright.sync_api import BrowserContext

import surveys
from accounts.models import Role, User
from surveys.journey import services as participation
from surveys.journey.services import Visit
from surveys.journey.visitors import COOKIE
from surveys.media import services as media
from surveys.media.services import examine
from surveys.models import MediaFile, Study
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.study_file import define, document_of, read_study_file
from surveys.tokens import new_token

SAMPLE = Path(surveys.__file__).parent / "sample"
SLUG = "lecture-videos"
JOURNEY = f"/s/{SLUG}/"
TWO_QUESTIONS = [
    {"name": "attention", "text": "Did your attention wander?"},
    {"name": "comprehension", "text": "Were you unable to follow?"},
]


def recruiting_study(**changes: Any) -> Study:
    """The sample study, launched; its lectures need not be watched. `changes` replace parts of the study file."""
    document = document_of(read_study_file((SAMPLE / "lecture-videos.yaml").read_text(encoding="utf-8"), source="sample"))
    definition = define(
        {**document, "watching": {"mode": "optional"}, "minimum_seconds": 0, "allocation": {"planned_participants": 40}, **changes}
    )
    investigator = User.objects.create_user("investigator", password="correct horse", role=Role.INVESTIGATOR)
    officer = User.objects.create_user("officer", password="correct horse", role=Role.IRB_OFFICER)
    study = studies.create_study(definition=definition, owner=investigator)
    with patch.object(media, "examine", lambda name, _content: MediaFile(name=name, **_facts_of(name))):
        for name in sorted(definition.files()):
            with SAMPLE.joinpath("lectures", name).open("rb") as content:
                media.add_media_file(study, name=name, content=File(content), actor=investigator)
    study = studies.submit_for_review(study, actor=investigator)
    study = reviews.approve(study, actor=officer)
    return studies.launch(study, actor=investigator)


@cache
def _facts_of(name: str) -> dict[str, Any]:
    """The properties of a lecture of the sample, read once in a test process: each reading starts a process of its own."""
    with SAMPLE.joinpath("lectures", name).open("rb") as content:
        found = examine(name, File(content))
    return {part: getattr(found, part) for part in ("media_type", "size", "sha256", "duration_seconds")}


def token_at_questions(study: Study, *, subsample: str, arm: str = "", language: str = "en") -> str:
    """The token of a new participant of `subsample`, and of this arm, who has everything but the sensitive questions behind them."""
    for _attempt in range(100):
        token = new_token()
        participant = participation.enrol(study, visit=Visit(token=token, language=language))
        participation.record_background(participant, token=token, answers={})
        shown = define(study.definition).arm(participant.arm).shown
        for page in range(max(len(shown), 1)):
            participation.finish_stimulus(participant, page=page)
        participation.record_quiz(participant, answers={})
        participation.finish_die(participant, understood_at_once=True)
        if participant.subsample == subsample and arm in ("", participant.arm):
            return token
    raise AssertionError(f"nobody was drawn into subsample {subsample}")


def become(context: BrowserContext, site: str, token: str) -> None:
    """From now on this browser is the participant's."""
    context.add_cookies(
        [{"name": COOKIE, "value": token, "domain": urlsplit(site).hostname or "", "path": JOURNEY, "httpOnly": True, "sameSite": "Lax"}]
    )
