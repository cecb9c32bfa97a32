"""The rest of a budget, at its edge: what the desk says is left can be spent, to the last trillionth."""

import re

import pytest
from django.urls import reverse

from analysis.learning.questions.desk import with_spending
from analysis.ledger.services import ask
from analysis.models import Charge
from tests.data_sets import approved
from tests.factories import logged_in, page_of

pytestmark = pytest.mark.django_db
LAW = [{"column": "background.major", "in": ["law"]}]
COUNT = {"kind": "count", "where": LAW}


def test_an_equal_share_for_three_questions_is_enough_for_three() -> None:
    """A third of ε was charged as a trillionth more, so that the last of three questions was refused."""
    source = approved()
    asked = [COUNT, {"kind": "most_common", "column": "background.major"}, {"kind": "histogram", "by": ["background.major"]}]
    shares = [with_spending(one, source, error=None, questions=3) for one in asked]
    for share in shares:
        ask(source, {"kind": "statistic", "question": share}, actor=source.whole.owner)
    assert Charge.objects.count() == 3


def test_what_the_desk_says_is_left_is_not_refused() -> None:
    """It was rounded to the nearest, and every second time upwards."""
    source = approved()
    browser = logged_in(source.whole.owner)
    desk, preview = (reverse(f"analysis:{name}", args=[source.whole.slug]) for name in ("data_set_questions", "api_data_set_preview"))
    for rho in (0.001, 0.002, 0.003, 0.004):
        ask(source, {"kind": "statistic", "question": {**COUNT, "rho": rho}}, actor=source.whole.owner)
        told = re.search(r"There is left: ρ = ([\d.]+), or ε = ([\d.]+) for", " ".join(page_of(browser.get(desk)).text_content().split()))
        assert told
        for loss in ({"rho": float(told[1])}, {"epsilon": float(told[2])}):
            offered = browser.post(preview, {"question": {**COUNT, **loss}}, content_type="application/json").json()
            assert offered["obstacle"] == "", loss
