"""People who go away before the end: the page's script sends what they chose, and the browser shows the answer that comes once."""

import pytest
from playwright.sync_api import Page, expect

from surveys.models import ArmState, CounterKind, Participant, ShardedCounter, Study
from tests.browser.conftest import Complaints
from tests.browser.people import JOURNEY, recruiting_study
from tests.browser.turning import button
from tests.factories import ATTENTION_CHECK

OUT, NO = "https://panel.example.org/out", "https://panel.example.org/no"
LINK = f"{JOURNEY}?PROLIFIC_PID=5f1c0000000000000000000a"


@pytest.fixture
def study(transactional_db: None) -> Study:
    panel = {"kind": "prolific", "screened_out_url": OUT, "declined_url": NO}
    return recruiting_study(entry=panel, background=[ATTENTION_CHECK], attention="exclude")


@pytest.mark.parametrize(("choice", "words"), [("Blue", "This study is full"), ("Red", "This study ends here for you")])
def test_somebody_whom_the_study_does_not_take_reads_why_and_goes_back(
    page: Page, complaints: Complaints, study: Study, choice: str, words: str
) -> None:
    """Their data were deleted, and the same form was sent a second time: “This browser does not know you any more”, without a way back."""
    complaints.expected.append("403")
    page.goto(LINK)
    button(page, "Start").click()
    button(page, "I agree").click()
    page.get_by_label(choice).check()
    ArmState.objects.filter(study=study).update(closed=True)
    button(page, "Continue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(words)
    expect(page.get_by_role("link", name="Go back to where you came from")).to_have_attribute("href", OUT)
    expect(page.get_by_role("navigation", name="Language")).to_have_count(0)  # it led to a page without the way back
    assert not Participant.objects.exists()


def test_somebody_who_opens_their_link_again_and_does_not_agree_goes_back(page: Page, study: Study) -> None:
    """The page of consent stands at the address of the link then. The form was sent twice: “We do not know this link”."""
    page.goto(LINK)
    button(page, "Start").click()
    expect(button(page, "I agree")).to_be_visible()
    page.goto(LINK)
    button(page, "I do not agree").click()
    expect(page.get_by_role("link", name="Go back to where you came from")).to_have_attribute("href", NO)
    expect(page.get_by_role("navigation", name="Language")).to_have_count(0)
    assert ShardedCounter.objects.get(kind=CounterKind.DECLINED).count == 1
