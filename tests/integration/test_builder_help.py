"""In-app help: every field of the builder says what belongs into it, and screen readers read that with the field."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from lxml.html import HtmlElement

from surveys.drafting.help import HELP
from surveys.drafting.parts import PARTS
from surveys.models import Study
from tests.factories import draft_study, logged_in, page_of
from tests.integration.test_builder import address

pytestmark = pytest.mark.django_db


def pages(study: Study) -> list[str]:
    """All pages of the builder with a form, some of them in several kinds."""
    parts = [reverse(part.route, args=[study.slug]) for part in PARTS]
    kinds = ("single_choice", "group")
    items = [f"{address('build_add', study, 'background')}?kind={kind}" for kind in kinds]
    items += [address("build_add", study, part) for part in ("quiz", "questions")]
    items += [address("build_item", study, "background", name) for name in ("gender", "courses")]
    return [*parts, *items, address("build_arm", study, "slides"), address("build_paste", study, "background")]


def fields(page: HtmlElement) -> list[HtmlElement]:
    seen = "self::textarea or self::select or (self::input and not(@type='hidden'))"
    return page.xpath(f"//*[{seen}][ancestor::form[contains(@class, 'builder-form')]]")


def helped(field: HtmlElement, page: HtmlElement) -> bool:
    """Whether a text that is there describes the field, or the group that it belongs to, or is its label."""
    if page.xpath(f'//label[contains(@class, "hint")][@for="{field.get("id")}"]'):
        return True
    for one in (field, *field.iterancestors("fieldset")):
        described = (one.get("aria-describedby") or "").split()
        if any(page.xpath(f'string(//*[@id="{name}"])').strip() for name in described):
            return True
    return False


def without_help(browser: Client, study: Study) -> dict[str, list[str]]:
    found = {}
    for where in pages(study):
        page = page_of(browser.get(where))
        assert fields(page) or "/build/background/" in where or "/build/q" in where, where
        if bare := sorted({field.get("name") for field in fields(page) if not helped(field, page)}):
            found[where] = bare
    return found


def test_every_field_of_the_builder_has_help() -> None:
    study = draft_study()
    assert without_help(logged_in(study.owner), study) == {}


def test_the_catalogue_has_no_sentence_that_no_field_shows() -> None:
    study = draft_study()
    browser = logged_in(study.owner)
    shown = "".join(browser.get(where).content.decode() for where in pages(study))
    assert [name for name, words in HELP.items() if escape(str(words)) not in shown] == []
