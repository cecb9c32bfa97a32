"""A lecturer opens a room, a student rolls and answers on a telephone, and the projector shows what the class said."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from surveys.batches.rules import LEAST
from surveys.classroom.services import add_answer
from surveys.models import ClassRoom
from tests.browser.traces import requests_of, wait_until_loaded

pytestmark = pytest.mark.django_db(transaction=True)
Check = Callable[[Page], None]


def test_a_class_sees_its_estimate_on_the_projector(new_page: Callable[..., Page], assert_accessible: Check, assert_fits: Check) -> None:
    screen = new_page(viewport={"width": 1280, "height": 900})
    screen.clock.install()
    screen.goto("/")
    screen.get_by_role("link", name="Use this in class").click()
    assert_accessible(screen)
    screen.get_by_role("button", name="Open a room").press("Enter")
    expect(screen.get_by_role("status")).to_contain_text("when 20 people or more have answered")
    assert_accessible(screen)
    code = ClassRoom.objects.get().code

    phone = new_page(viewport={"width": 320, "height": 640}, reduced_motion="reduce", locale="de-DE")
    phone.goto(f"/in-class/{code.lower()}/")
    wait_until_loaded(phone)
    sent = requests_of(phone)
    phone.get_by_role("button", name="Würfeln").press("Enter")
    expect(phone.get_by_role("button", name="Würfeln")).to_be_hidden()
    assert sent == []
    assert_accessible(phone)
    assert_fits(phone)
    phone.get_by_label("Nein").press("Space")
    with phone.expect_request(lambda request: request.method == "POST") as request:
        phone.get_by_role("button", name="Meine Antwort senden").press("Enter")
    body = re.sub(r"csrfmiddlewaretoken=\w+&", "", request.value.post_data or "")
    assert re.fullmatch(r"half=[01]&answer=no", body)
    expect(phone.get_by_role("heading", name="Danke")).to_be_visible()
    assert_fits(phone)

    for half in (0, 1):
        for person in range(LEAST):
            add_answer(code, half=half, yes=person < 3 + 2 * half)
    screen.clock.fast_forward(3000)
    expect(screen.get_by_role("status")).to_contain_text(re.compile(r"^2[01] people answered. Estimate: \d+ % would truly say yes"))
    assert [int(cell) for cell in screen.locator("[data-yes]").all_inner_texts()] == [3, 5]
    expect(screen.locator("[data-chart] .estimate")).to_have_count(1)
    assert_accessible(screen)
    assert_fits(screen)
