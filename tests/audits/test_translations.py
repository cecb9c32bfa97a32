"""Every word on a participant's page has a German translation, compiled and committed."""

import gettext
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "templates"
# Participants also read form errors, which no template holds.
MODULES = ("surveys/journey/forms.py", "surveys/journey/views.py", "surveys/journey/step_views.py", "surveys/ways_in.py")
TRANSLATE = re.compile(r"""\{%\s*translate\s+(?:"([^"]+)"|'([^']+)')""")
CALL = re.compile(r"""\b(?:_|gettext)\(\s*"([^"]+)\"""")
BLOCK = re.compile(r"\{%\s*blocktranslate\b([^%]*)%\}(.*?)\{%\s*endblocktranslate\s*%\}", re.DOTALL)


def participants_words() -> Iterator[str]:
    for path in [*TEMPLATES.glob("surveys/participant/*.html"), *TEMPLATES.glob("components/*.html"), TEMPLATES / "base.html"]:
        source = path.read_text(encoding="utf-8")
        yield from (double or single for double, single in TRANSLATE.findall(source))
        yield from (re.sub(r"\{\{\s*(\w+)\s*\}\}", r"%(\1)s", words) for _options, words in BLOCK.findall(source))
    for module in MODULES:
        yield from CALL.findall((ROOT / module).read_text(encoding="utf-8"))


def test_every_word_on_a_participants_page_is_translated_into_german() -> None:
    with (TEMPLATES / "locale/de/LC_MESSAGES/django.mo").open("rb") as compiled:
        german = gettext.GNUTranslations(compiled)
    words = set(participants_words())
    assert len(words) > 150
    assert sorted(word for word in words if german.gettext(word) == word) == []


def test_translations_keep_their_placeholders() -> None:
    with (TEMPLATES / "locale/de/LC_MESSAGES/django.mo").open("rb") as compiled:
        german = gettext.GNUTranslations(compiled)
    placeholder = re.compile(r"%\(\w+\)s|\{\w+\}")
    for word in participants_words():
        assert sorted(placeholder.findall(german.gettext(word))) == sorted(placeholder.findall(word)), word
