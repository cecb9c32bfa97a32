"""The page on networks: what it costs first, then one button; what was released; and who may ask."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.urls import reverse

from accounts.models import Role
from analysis.ledger import services
from analysis.models import Asking, Charge
from surveys.models import MemberRole, Study, StudyMember
from tests.factories import logged_in, page_of, person, recruiting_study
from tests.integration.test_circle import CIRCLE
from tests.integration.test_network_questions import CLASS, source_of_circles
from tests.jobs import work_on
from tests.ledgers import open_source

pytestmark = pytest.mark.django_db


def address(study: Study) -> str:
    return reverse("analysis:analytics_networks", args=[study.slug])


def text_of(response: HttpResponse) -> str:
    return " ".join(page_of(response).xpath("//main")[0].text_content().split())


def sent(**fields: Any) -> dict[str, Any]:
    return {"kind": "network_degrees", "circle": "team", "classes": "class", "noise": "epsilon", "amount": "0.5", **fields}


def test_the_cost_comes_first_then_one_button_then_the_answer() -> None:
    source = source_of_circles()
    study, browser = source.study, logged_in(source.study.owner)
    assert "Spend and answer" not in text_of(browser.get(address(study)))
    previewed = browser.get(address(study), sent())
    assert "right to ± 12, 95 times in 100" in text_of(previewed)
    assert "It costs ε = 0.5. There is left now: ρ = 1.5392, or ε = 10 for one question with pure ε." in text_of(previewed)
    assert "it would be noise" in text_of(previewed), "96 people in nine groups are about eleven each"
    assert not Charge.objects.exists()
    (offered,) = page_of(previewed).xpath("//section[@id='offer']//form")
    shown = {one.get("name"): one.get("value") for one in offered.xpath(".//input[@type='hidden']")}
    assert sent().items() <= shown.items(), "the button buys what was shown, whatever is typed above it now"
    assert browser.post(offered.get("action"), shown).status_code == 302
    waiting = browser.get(address(study))
    assert "A worker draws the noise." in text_of(waiting)
    assert page_of(waiting).xpath("//section[@id='released']/@hx-trigger")
    work_on(Asking.objects.get())
    answered = page_of(browser.get(address(study)))
    assert answered.xpath("//section[@id='released']//tbody/tr/th/text()")[:2] == ["0 friends", "1 friend"]
    assert not answered.xpath("//section[@id='released']/@hx-trigger")
    again = text_of(browser.get(address(study), sent()))
    assert "This was asked before." in again
    assert "Spend and answer" not in again, "nothing is spent"
    assert browser.post(address(study), sent()).status_code == 302
    assert Charge.objects.count() == 1


@pytest.mark.parametrize("kind", ["network_ties", "network_class_types", "network_class_means"])
def test_every_release_can_be_asked_for_and_read(kind: str) -> None:
    source = source_of_circles()
    browser = logged_in(source.study.owner)
    browser.post(address(source.study), sent(kind=kind, noise="rho", amount="1,5"))
    work_on(Asking.objects.get())
    page = text_of(browser.get(address(source.study)))
    assert "ρ = 1.5" in page
    expected = {"network_ties": "2 to 3 friends, 0 to 0.33 linked", "network_class_types": "nobody has two friends"}
    assert expected.get(kind, "on average over 3 classes") in page


def test_the_page_says_the_question_as_it_was_asked_and_speaks_german_of_friends() -> None:
    source = source_of_circles()
    browser = logged_in(source.study.owner)
    browser.post(address(source.study), sent(amount="4"))
    work_on(Asking.objects.get())
    english = page_of(browser.get(address(source.study)))
    german = page_of(browser.get(address(source.study), headers={"accept-language": "de"}))
    for page, asked, names in (
        (english, "Who do you learn with?", ["0 friends", "1 friend"]),
        (german, "Mit wem lernst du?", ["0 Freunde", "1 Freund"]),
    ):
        assert page.xpath("//select[@id='circle']/option/text()") == [asked]
        assert f"{asked}”" in page.xpath("string(//section[@id='released'])") or f"{asked}“" in page.xpath(
            "string(//section[@id='released'])"
        )
        assert page.xpath("//section[@id='released']//tbody/tr/th/text()")[:2] == names
    assert german.xpath("string(//h1)") == "Netzwerke"
    back, listed = (
        german.xpath(f"//a[@href={reverse('analysis:analytics', args=[source.study.slug])!r}]/text()")[n].strip() for n in (-1, 0)
    )
    assert (listed, back) == ("Auswertungen", "Zurück zu: Auswertungen")


def test_a_small_error_is_not_called_noise() -> None:
    source = source_of_circles()
    page = text_of(logged_in(source.study.owner).get(address(source.study), sent(amount="4")))
    assert "it would be noise" not in page
    assert "right to ± 2, 95 times in 100" in page


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kind": ""}, "Choose what to release."),
        ({"kind": "solved"}, "Select a valid choice"),
        ({"circle": "class"}, "Select a valid choice"),
        ({"amount": ""}, "Write how much to spend."),
        ({"amount": "0"}, "So small a loss buys nothing."),
        ({"amount": "0.0000000000000000001"}, "So small a loss buys nothing."),
        ({"amount": "11"}, "from 0 to 10, not 11"),
        ({"amount": "much"}, "not “much”"),
        ({"amount": "nan"}, "not “nan”"),
        ({"kind": "network_class_means", "classes": ""}, "found"),
    ],
)
def test_what_does_not_fit_comes_back_with_what_was_expected(changed: dict[str, str], said: str) -> None:
    source = source_of_circles()
    browser = logged_in(source.study.owner)
    for response in (browser.get(address(source.study), sent(**changed)), browser.post(address(source.study), sent(**changed))):
        assert response.status_code == 422
        assert said in text_of(response)
    assert not Charge.objects.exists()


def test_what_does_not_fit_the_budget_shows_what_is_left_and_no_button() -> None:
    source = source_of_circles()
    services.ask(source, {"kind": "network_degrees", "circle": "team", "epsilon": 9.9}, actor=source.study.owner)
    page = logged_in(source.study.owner).get(address(source.study), sent())
    assert "The rest is" in text_of(page)
    assert not page_of(page).xpath("//section[@id='offer']//button")
    refused = logged_in(source.study.owner).post(address(source.study), sent())
    assert (refused.status_code, Charge.objects.count()) == (422, 1)
    assert "The rest is" in page_of(refused).xpath("string(//*[@role='alert'])")


def test_the_first_charge_that_is_not_pure_says_what_it_takes_from_pure_ones() -> None:
    source = source_of_circles()
    browser, warning = logged_in(source.study.owner), "It would be the first charge that is not pure."
    assert warning not in text_of(browser.get(address(source.study), sent()))
    assert warning in text_of(browser.get(address(source.study), sent(noise="rho")))
    preview = reverse("analysis:api_preview_network", args=[source.study.slug])
    asked = {"kind": "network_degrees", "circle": "team"}
    offers = [browser.post(preview, asked | loss, content_type="application/json").json() for loss in ({"epsilon": 0.5}, {"rho": 0.5})]
    assert [(one["obstacle"], one["pure_epsilon_left"]) for one in offers] == [("", 10), ("", 10)]
    assert offers[0]["pure_epsilon_left_after"] is None
    assert 0 < offers[1]["pure_epsilon_left_after"] < 3, "ρ = ε²/2, and about 1.04 are left"
    browser.post(address(source.study), sent(noise="rho"))
    assert warning not in text_of(browser.get(address(source.study), sent(noise="rho", amount="0.6")))


def test_analysts_and_editors_ask_officers_read_and_viewers_see_what_the_page_is_about() -> None:
    source = source_of_circles()
    services.ask(source, {"kind": "network_degrees", "circle": "team", "epsilon": 1.0}, actor=source.study.owner)
    work_on(Asking.objects.get())
    for role, may_ask, may_read in (
        (MemberRole.ANALYST, True, True),
        (MemberRole.EDITOR, True, True),
        (MemberRole.VIEWER, False, False),
        (None, False, True),
    ):
        somebody = person(Role.ANALYST if role else Role.IRB_OFFICER)
        if role:
            StudyMember.objects.create(study=source.study, user=somebody, role=role)
        browser = logged_in(somebody)
        page = page_of(browser.get(address(source.study)))
        assert bool(page.xpath("//section[@id='released']//td")) == may_read
        assert bool(page.xpath("//form[.//input[@name='amount']]")) == may_ask
        typed = browser.get(address(source.study), sent(amount="9.99"))
        assert ("The rest is" in text_of(typed)) == may_ask, "the price tells what is left"
        assert browser.post(address(source.study), sent(amount="0.01")).status_code == (302 if may_ask else 404)
    assert logged_in(person(Role.INVESTIGATOR)).get(address(source.study)).status_code == 404


def test_the_page_says_why_nothing_can_be_asked() -> None:
    running = recruiting_study(background=[CIRCLE, CLASS])
    browser = logged_in(running.owner)
    assert "a study needs a privacy budget, and must be closed" in text_of(browser.get(address(running)))
    assert browser.post(address(running), sent()).status_code == 404


def test_a_study_that_asked_nobody_about_friends_says_so() -> None:
    study = open_source().study
    page = text_of(logged_in(study.owner).get(address(study)))
    assert "This study asked nobody about friends." in page
    assert "one friendship changes the degree of two people" in page, "what is not offered is explained all the same"


@pytest.mark.parametrize(("source", "leads"), [(source_of_circles, 1), (open_source, 0)])
def test_the_page_of_analytics_leads_to_networks_where_friends_were_asked_about(source: Any, leads: int) -> None:
    study = source().study
    found = page_of(logged_in(study.owner).get(reverse("analysis:analytics", args=[study.slug])))
    assert len(found.xpath(f"//main//a[@href='{address(study)}']")) == leads
