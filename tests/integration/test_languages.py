"""Participants' pages in every language: the same page but for its words, the switch on it, errors, and languages that a file adds."""

import gzip
import re
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from lxml import html

from surveys.classroom.services import open_room
from surveys.journey.language import language_of
from surveys.languages import offered
from surveys.languages.catalogues import Catalogue, read_catalogue, written
from surveys.languages.offered import OWN, TEMPLATE
from surveys.models import Participant, Study
from tests.factories import document, recruiting_study, send, walk
from tests.languages import in_every_language

pytestmark = pytest.mark.django_db
DOES = ("src", "action", "method", "name", "type", "id", "href", "for", "class", "data-question", "data-sides", "data-faces", "data-says")
MOST = 30_000
"""Bytes of HTML, style and script that a participant's page costs, compressed."""
TURKISH = {"Language": "tr", "X-Language-Name": "Türkçe", "Plural-Forms": "nplurals=2; plural=(n > 1);"}


def study_in_every_language(**changes: Any) -> Study:
    whole = in_every_language(document())
    return recruiting_study(**{**whole, "languages": list(OWN), **changes})


def skeleton(content: bytes) -> list[str]:
    """The page without its words: every element with what it does, the scripts and files it brings, and what it would send."""
    lines = []
    for element in html.fromstring(content.decode()).iter():
        if isinstance(element.tag, str) and not element.xpath("ancestor-or-self::nav[@class='languages']"):
            kept = {name: re.sub(r"language=[\w-]+|subject=[^&]*|[0-9A-Za-z]{64}", "", element.get(name, "")) for name in DOES}
            lines.append(f"{element.tag} {kept} {sorted(set(element.attrib) - {'dir'})}")
    return lines


def pages(study: Study) -> Iterator[tuple[str, Client]]:
    """The first page, and the page of the die and the questions for one and the same participant."""
    client = Client()
    yield reverse("surveys:journey", args=[study.slug]), client
    yield reverse("surveys:privacy", args=[study.slug]), client
    somebody = Client()
    walk(somebody, study, until="questions")
    yield reverse("surveys:journey", args=[study.slug]), somebody


def test_a_page_does_the_same_in_every_language() -> None:
    """So what the full traces show of the die in one language holds in all of them: same elements, scripts, requests and fields."""
    study = study_in_every_language()
    for address, client in pages(study):
        english = client.get(address, {"language": "en"}).content
        for code in OWN:
            content = client.get(address, {"language": code}).content
            page = html.fromstring(content.decode())
            assert (page.get("lang"), page.get("dir")) == (code, "rtl" if code == "ar" else None)
            assert skeleton(content) == skeleton(english), (address, code)
            assert code == "en" or " sure after " not in content.decode(), "what the die keeps secret is said in this language, too"


def test_a_page_is_light_in_every_language() -> None:
    study = study_in_every_language()
    static = Path(settings.BASE_DIR) / "platform/static"
    for address, client in pages(study):
        for code in OWN:
            content = client.get(address, {"language": code}).content
            page = html.fromstring(content.decode())
            files = {*page.xpath("//link[@rel='stylesheet' or @rel='modulepreload']/@href"), *page.xpath("//script/@src")}
            parts = [content, *(static.joinpath(one.removeprefix("/static/")).read_bytes() for one in files)]
            assert sum(len(gzip.compress(part)) for part in parts) < MOST, (address, code)


NUMBER = "5f1c0000000000000000000a"


def test_the_switch_keeps_the_invitation_and_the_choice_and_stores_nothing() -> None:
    study, client = study_in_every_language(entry={"kind": "prolific", "completion_url": "https://app.prolific.com/x"}), Client()
    address = reverse("surveys:journey", args=[study.slug])
    page = html.fromstring(client.get(f"{address}?PROLIFIC_PID={NUMBER}").content.decode())
    link = page.xpath("//nav[@class='languages']/a[@hreflang='pl']/@href")[0]
    assert link == f"?PROLIFIC_PID={NUMBER}&language=pl"
    polish = html.fromstring(client.get(address + link).content.decode())
    assert (polish.get("lang"), polish.xpath("//input[@name='PROLIFIC_PID']/@value")) == ("pl", [NUMBER])
    assert client.cookies["candor_language"]["path"] == address
    assert not client.cookies["candor_language"]["max-age"]
    send(client, study, "welcome", language="pl", PROLIFIC_PID=NUMBER)
    client.get(address, {"language": "nl"})
    send(client, study, "consent", choice="agree")
    client.get(address, {"language": "ar"})
    assert html.fromstring(client.get(address).content.decode()).get("dir") == "rtl"
    assert Participant.objects.get().language == "nl", "the language in which somebody agreed"


def test_unknown_languages_change_nothing() -> None:
    study, client = study_in_every_language(), Client()
    response = client.get(reverse("surveys:journey", args=[study.slug]), {"language": "xx"}, headers={"Accept-Language": "zh-CN,zh;q=0.9"})
    assert html.fromstring(response.content.decode()).get("lang") == "zh-hans"
    assert "candor_language" not in client.cookies


def test_errors_are_in_the_language_of_the_participant_and_dates_in_its_form() -> None:
    study = study_in_every_language()
    strict = Client(enforce_csrf_checks=True)
    response = strict.post(reverse("surveys:journey", args=[study.slug]), {"step": "welcome"}, headers={"Accept-Language": "fr"})
    assert (response.status_code, "Cette page était ouverte depuis longtemps" in response.content.decode()) == (403, True)
    shown = Client().get(reverse("surveys:transparency", args=[study.slug]), {"language": "zh-hans"}).content.decode()
    assert re.search(r"\d{4}年\d{1,2}月\d{1,2}日", shown)


def test_the_home_page_and_a_class_room_are_there_in_every_language_with_a_switch() -> None:
    code = open_room("listened").code
    pages = ["/", *map(reverse, ("surveys:in_class", "surveys:privacy_for_strangers"))]
    pages += [reverse(f"surveys:class_{place}", args=[code]) for place in ("room", "screen")]
    english = {address: words_on(Client().get(address)) for address in pages}
    for language in set(OWN) - {"en"}:
        somebody = Client()
        for address in pages:
            response = somebody.get(address, headers={"Accept-Language": language})
            page = html.fromstring(response.content.decode())
            assert (page.get("lang"), page.get("dir")) == (language, "rtl" if language == "ar" else None)
            assert len(page.xpath("//nav[@class='languages']/a")) == len(OWN)
            assert {one for one in words_on(response) & english[address] if len(one.split()) > 2 and not one[0].isdigit()} == set(), (
                address,
                language,
            )
    chosen = Client()
    chosen.get(reverse("surveys:in_class"), {"language": "pl"})
    assert html.fromstring(chosen.get(reverse("surveys:class_room", args=[code])).content.decode()).get("lang") == "pl", (
        "a room stays in the language that was chosen"
    )


def words_on(response: Any) -> set[str]:
    """The texts of a page's main part, without formulas."""
    main = html.fromstring(response.content.decode()).get_element_by_id("main")
    return {" ".join(one.split()) for one in main.xpath(".//text()[not(ancestor::*[@class='formula'])]") if one.strip()}


def turkish(folder: Path, **changes: str) -> Path:
    """A complete file: every sentence in capital letters, its places kept."""
    template = read_catalogue(TEMPLATE.read_text(encoding="utf-8"))
    entries = {one: replace(entry, said=(f"TR {one}",) * (2 if entry.many else 1)) for one, entry in template.entries.items()}
    path = folder / "tr.po"
    path.write_text(written(Catalogue(header={**TURKISH, **changes}, entries=entries)), encoding="utf-8")
    return path


def test_a_language_is_added_by_a_file(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.LANGUAGES_FOLDER = tmp_path / "languages"
    monkeypatch.setattr(offered, "LANGUAGE_NAMES", dict(OWN))
    monkeypatch.setattr(offered, "FROM_FILES", {})
    output = StringIO()
    call_command("check_language", stdout=output)
    assert output.getvalue() == TEMPLATE.read_text(encoding="utf-8")
    call_command("check_language", turkish(tmp_path), stdout=output)
    assert not settings.LANGUAGES_FOLDER.exists(), "a check alone writes nothing"
    call_command("check_language", turkish(tmp_path), "--install", stdout=output)
    assert list(offered.offer_from(settings.LANGUAGES_FOLDER, offered.participants_words())) == []
    assert offered.LANGUAGE_NAMES["tr"] == "Türkçe"
    assert len(offered.FROM_FILES["tr"].sha256) == 64
    stale = settings.LANGUAGES_FOLDER / "tr/LC_MESSAGES/django.po"
    stale.write_text(stale.read_text(encoding="utf-8").replace('msgid "Thank you"', 'msgid "Thanks"'), encoding="utf-8")
    del offered.LANGUAGE_NAMES["tr"]
    assert len(list(offered.offer_from(settings.LANGUAGES_FOLDER, offered.participants_words()))) == 1
    assert "tr" not in offered.LANGUAGE_NAMES, "a file that no longer fits the pages is not offered"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('msgid "Thank you"\n', 'msgid "Thanks"\n', "missing: Thank you"),
        ('msgid "Thank you"\n', 'msgid "Thanks"\n', "not a sentence of these pages: Thanks"),
        ('"TR Deleted on %(day)s:"', '"TR Deleted on %(date)s:"', "expected the places %(day)s, found %(date)s"),
        ('"TR Person {number}: {answer}"', '"TR Person {number}"', "expected the places {answer} {number}, found {number}"),
        ('"TR Yes"', '"TR <script>alert(1)</script>"', "expected the markup none, found </script> <script>"),
        ('"TR Yes"', '"TR <img onerror=1"', "expected the markup none, found a <"),
        ('"TR Yes"', '"TR\\" onclick=\\"x"', "a straight quotation mark"),
        ('"TR Yes"', '"TR \u202eYes"', "a character that nobody can see"),
        ('"TR Yes"', '"100 %"', "expected the places none, found %"),
        ("Language: tr", "Language: de", "de is one of Candor’s own languages"),
        ("Language: tr", "Language: ../tr", "expected a Language such as tr"),
        ("plural=(n > 1)", "plural=(n)", "expected Plural-Forms"),
        ("plural=(n > 1)", "plural=__import__('os')", "expected Plural-Forms"),
        ('msgid "Thank you"\n', "Thank you\n", "expected msgid, msgid_plural, msgstr"),
    ],
)
def test_a_file_with_mistakes_is_refused_with_each_problem_named(tmp_path: Path, settings: Any, old: str, new: str, problem: str) -> None:
    settings.LANGUAGES_FOLDER = tmp_path / "languages"
    path = turkish(tmp_path)
    before = path.read_text(encoding="utf-8")
    assert old in before
    path.write_text(before.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(CommandError, match=re.escape(problem)):
        call_command("check_language", path, "--install")
    assert not settings.LANGUAGES_FOLDER.exists()


def test_a_file_that_is_no_text_or_too_large_is_refused(tmp_path: Path) -> None:
    for content, problem in ((b"\xff\xfe\x00", "UTF-8"), (b"#" * 1_000_001, "bytes"), (b"", "missing")):
        path = tmp_path / "tr.po"
        path.write_bytes(content)
        with pytest.raises(CommandError, match=problem):
            call_command("check_language", path)


def test_the_language_of_a_participant_is_one_that_the_protocol_has(rf: Any) -> None:
    study = study_in_every_language()
    request = rf.get("/", {"language": "tr"}, headers={"Accept-Language": "tr"})
    assert language_of(request, study, None) == "en"
