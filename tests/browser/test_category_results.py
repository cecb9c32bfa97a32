"""Questions with named answers in a browser: the results page and the public page of a release, wide and narrow."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from accounts.models import Role
from analysis.releases import services
from surveys.models import Study
from surveys.studies import services as studies
from tests.browser.people import SLUG, TWO_QUESTIONS, recruiting_study
from tests.browser.staff import log_in
from tests.categories import FREQUENCY, PROBATION
from tests.factories import person
from tests.finished_people import TELLING_DIE, add_finished_people, compute
from tests.releases import built_release

Check = Callable[[Page], None]
FACES_OF_TWENTY = {
    "1": {"never": [1, 2, 3, 4], "before": [5, 6, 7, 8], "now": list(range(9, 17))},
    "2": {"never": list(range(1, 9)), "before": [9, 10, 11, 12], "now": [13, 14, 15, 16]},
}


def test_every_answer_fits_every_screen_and_serves_screen_readers(
    transactional_db: None, new_page: Callable[..., Page], assert_accessible: Check, assert_fits: Check
) -> None:
    allocation = {"planned_participants": 300, "block_multiples": [1]}
    questions = [TWO_QUESTIONS[0], {**FREQUENCY, "cheaters": "never"}, {**PROBATION, "faces": FACES_OF_TWENTY}]
    study = recruiting_study(questions=questions, allocation=allocation, die=TELLING_DIE)
    add_finished_people(study, 300, cheaters=0.25, prevalence=0.2, effect=0.5)
    studies.close(Study.objects.get(pk=study.pk), actor=study.owner)
    study.refresh_from_db()
    compute(study)
    release = built_release(study, questions=("attention", "copying", "probation"))
    services.request_approval(release, actor=study.owner)
    release.refresh_from_db()
    assert services.approve(release, actor=person(Role.IRB_OFFICER))
    page = new_page()
    log_in(page, "investigator")
    page.goto(f"/studies/{SLUG}/results/")
    matrix = page.get_by_role("region", name="All results, as a table")
    expect(matrix.get_by_text("the answers differ")).to_be_visible()
    matrix.get_by_role("link", name="in “How often did you copy an answer this term?”: exact numbers").click()
    numbers = page.get_by_role("region", name="Exact numbers of the planned analysis of question 2")
    expect(numbers.get_by_role("row")).to_have_count(
        1 + 1 + 2 * (1 + 6) + 6 + 12 + 1
    )  # head, λ, χ² and effects (also with background answers), Δ, shares, J
    about_people = page.get_by_role("region", name="Exact numbers of the planned analysis of question 3")
    page.get_by_text("Exact numbers of the planned analysis").last.click()
    expect(about_people.get_by_text("all arms")).to_have_count(3)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert_fits(page)
        assert_accessible(page)
    page.goto(f"/data/{SLUG}/1/")
    findings = page.locator("[data-findings]")
    expect(findings.get_by_text("Your browser computed")).to_be_visible()
    expect(findings.get_by_text("all are the same to 1e-9")).to_be_visible()
    expect(findings.get_by_text("For questions with named answers, your browser computes every number again")).to_be_visible()
    expect(findings.locator("tr[data-question=copying] .is-same")).to_have_count(2)  # the test of the contrast, and cheaters
    expect(findings.locator("tr[data-question=attention] .is-same").first).to_be_visible()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert_fits(page)
        assert_accessible(page)
