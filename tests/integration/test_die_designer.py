"""The builder's pages for the die and the allocation: the consequences of the typed numbers, and how they are saved."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.urls import reverse

from surveys.allocation.findable import findable
from surveys.models import Study, StudyStatus
from surveys.studies import services as studies
from surveys.study_file import define
from tests.categories import with_frequency
from tests.factories import definition, document, draft_study, logged_in, page_of, study_in

pytestmark = pytest.mark.django_db

MIRRORED = {"die": "6", "group1": "ynnttt", "group2": "nyyttt", "model": "any", "share": "", "sides": ""}


def address(study: Study, page: str = "analysis:build_die") -> str:
    return reverse(page, args=[study.slug])


def inputs_of(response: HttpResponse) -> dict[str, Any]:
    form = page_of(response).get_element_by_id("builder-form")
    return {name: value or "" for name, value in form.fields.items() if name != "csrfmiddlewaretoken"}


def facts_of(response: HttpResponse) -> str:
    return " ".join(page_of(response).get_element_by_id("die-facts").text_content().split())


def look(study: Study, **changes: str) -> HttpResponse:
    """The page's words while it is being filled in."""
    return logged_in(study.owner).post(address(study), {**MIRRORED, **changes}, headers={"HX-Request": "true"})


def test_a_die_that_is_typed_says_what_it_does_before_it_is_saved() -> None:
    study = draft_study()
    before = study.definition
    said = facts_of(look(study, group1="yynntttttt", group2="ynnntttttt", die="10"))
    # Subsample 1: no is forced with .2 and yes with .2, so ε = ln(.8/.2); subsample 2: .3 and .1, so ε = ln(.7/.1), which is larger.
    assert "ε = 1.946 for each answer, 7.7837 in total." in said  # ln 7, rounded up
    assert "at most 88 % sure after one answer" in said
    study.refresh_from_db()
    assert study.definition == before


@pytest.mark.parametrize(
    ("groups", "model", "identified"),
    [
        (("ynnttt", "nyyttt"), "any", True),
        (("yntttt", "yynntt"), "any", False),
        (("yntttt", "yynntt"), "unknown", False),
        (("yntttt", "yynntt"), "always_no", True),
        (("yntttt", "yynntt"), "share", False),
    ],
)
def test_designs_that_do_not_identify_are_warned_of(groups: tuple[str, str], model: str, identified: bool) -> None:
    said = facts_of(look(draft_study(), group1=groups[0], group2=groups[1], model=model, share="50"))
    assert ("The size of the effect: yes." in said) == identified
    assert ("The share of cheaters: yes." in said) == identified
    assert ("lie between bounds, however many people take part" in said) == (not identified)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"group1": "ttnnnn"}, "give at least one face to yes and one to no"),
        ({"group1": "yyynnn"}, "leave at least one face for the truth"),
        ({"group2": "ynnttt"}, "The subsamples must differ"),
        ({"die": "other", "sides": "2"}, "3 to 100"),
        ({"die": "other", "sides": "many"}, "3 to 100"),
        ({"die": "2d6"}, "3 to 100"),
        ({"group1": "yxnttt"}, "Every face says y (yes), n (no) or t (truth)"),
        ({"model": "share", "share": "150"}, "must be a number from 0 to 100"),
        ({"model": "share", "share": ""}, "Write how many of 100 say yes."),
        ({"model": "nonsense"}, "Choose what you assume."),
    ],
)
def test_an_impossible_die_is_named_and_not_saved(changes: dict[str, str], sentence: str) -> None:
    study = draft_study()
    assert sentence in facts_of(look(study, **changes))
    client = logged_in(study.owner)
    refused = client.post(address(study), inputs_of(client.get(address(study))) | MIRRORED | changes)
    assert refused.status_code == 422
    assert sentence in page_of(refused).xpath("string(//*[@role='alert'])")
    assert Study.objects.get().definition == study.definition


def test_every_button_works_without_a_script_and_the_die_is_saved_with_its_assumption() -> None:
    study = draft_study()
    client = logged_in(study.owner)
    shown: HttpResponse = client.get(address(study))
    for change, groups in (
        ("turn:0:3", ["ynnytt", "yynttt"]),
        ("turn:0:3", ["ynnntt", "yynttt"]),
        ("turn:1:0", ["ynnntt", "nynttt"]),
        ("mirror:", ["ynnntt", "nyyytt"]),
        ("add:", ["ynnntt", "nyyytt", "yntttt"]),
        ("remove:", ["ynnntt", "nyyytt"]),
    ):
        shown = client.post(address(study), inputs_of(shown) | {"change": change})
        assert [value for name, value in inputs_of(shown).items() if name.startswith("group")] == groups
    assert Study.objects.get().definition == study.definition
    saved = client.post(address(study), inputs_of(shown) | {"model": "share", "share": "12,5"})
    assert saved.status_code == 302
    die = define(Study.objects.get().definition).die
    assert (die.sides, die.subsamples["1"].yes, die.subsamples["1"].no, die.subsamples["2"].no) == (6, (1,), (2, 3, 4), (1,))
    assert die.cheaters == 0.125
    assert inputs_of(client.get(address(study)))["share"] == "12.5"


def test_another_number_of_sides_starts_with_usual_faces_and_keeps_the_weights_of_subsamples() -> None:
    study = draft_study(die={**document()["die"], "weights": {"2": 3}})
    client = logged_in(study.owner)
    shown = client.post(address(study), inputs_of(client.get(address(study))) | {"die": "other", "sides": "7", "change": "look"})
    assert inputs_of(shown)["die"] == "7"
    assert client.post(address(study), inputs_of(shown)).status_code == 302
    die = define(Study.objects.get().definition).die
    assert (die.sides, die.weights, len(die.subsamples)) == (7, {"2": 3}, 2)


def test_a_die_from_the_design_page_can_be_taken_up() -> None:
    study = draft_study()
    client = logged_in(study.owner)
    plan = client.get(reverse("analysis:study_plan", args=[study.slug]), {"die": "4", "group1": "yntt", "group2": "nytt"})
    (link,) = page_of(plan).xpath("//a[contains(., 'Take this die into the draft')]/@href")
    taken = inputs_of(client.get(link))
    assert (taken["die"], taken["group1"], taken["group2"]) == ("4", "yntt", "nytt")
    launched = study_in(StudyStatus.RECRUITING, slug="another-study")
    frozen = logged_in(launched.owner).get(reverse("analysis:study_plan", args=[launched.slug]))
    assert "Take this die into the draft" not in frozen.content.decode()


def test_two_who_change_the_die_at_once_lose_nothing() -> None:
    study = draft_study()
    client = logged_in(study.owner)
    mine = inputs_of(client.get(address(study)))
    theirs = {**document()["die"], "cheaters": "always_yes"}
    studies.change_definition(study, definition=definition(die=theirs), actor=study.owner)
    conflict = client.post(address(study), mine | {"model": "always_no"})
    assert conflict.status_code == 409
    assert define(Study.objects.get().definition).die.cheaters == "always_yes"
    assert client.post(address(study), inputs_of(conflict)).status_code == 302
    assert define(Study.objects.get().definition).die.cheaters == "always_no"


def test_weights_quotas_and_thresholds_are_saved_where_they_belong() -> None:
    study = draft_study()
    client, page = logged_in(study.owner), address(study, "surveys:build_allocation")
    typed = inputs_of(client.get(page)) | {
        "scheme": "complete",
        "planned_participants": "900",
        "block_multiples": "2, 4",
        "arms.slides.weight": "2",
        "arms.instructor.quota": "200",
        "subsamples.2.weight": "2",
        "minimum_seconds": "15",
        "mode": "required",
        "share": "75",
    }
    seen = client.post(page, typed, headers={"HX-Request": "true"})
    rows = page_of(seen).xpath("//*[@id='group-sizes']//tbody/tr")
    # 900 people, a third in subsample 1; of each subsample two thirds see the slides.
    cells = [[cell.text_content() for cell in row.xpath("td")] for row in rows]
    assert cells == [["200", "100"], ["400", "200"], ["600", "300"]]
    assert "the other arms will get more people than planned" in " ".join(page_of(seen).text_content().split())
    assert Study.objects.get().definition == study.definition
    assert client.post(page, typed).status_code == 302
    saved = define(Study.objects.get().definition)
    assert (saved.arm_weights, saved.subsample_weights) == ({"slides": 2, "instructor": 1}, {"1": 1, "2": 2})
    assert (saved.arm("instructor").quota, saved.arm("slides").quota, saved.minimum_seconds) == (200, None, 15)
    assert (saved.allocation.scheme, saved.allocation.planned_participants, saved.allocation.block_multiples) == ("complete", 900, (2, 4))
    assert (saved.watching.mode, saved.watching.share) == ("required", 0.75)
    assert saved.arm("slides").video == define(study.definition).arm("slides").video


def test_quotas_that_let_in_fewer_than_are_planned_are_named_together() -> None:
    study = draft_study()
    client, page = logged_in(study.owner), address(study, "surveys:build_allocation")
    quotas = {"planned_participants": "1200", "arms.slides.quota": "500", "arms.instructor.quota": "600"}
    seen = client.post(page, inputs_of(client.get(page)) | quotas, headers={"HX-Request": "true"})
    said = " ".join(page_of(seen).text_content().split())
    assert "The quotas let in 1,100 people at most, fewer than the 1,200 that are planned." in said
    assert "more people than planned" not in said, "nobody is left for the other arms"


def test_people_who_are_asked_directly_are_a_group_of_their_own() -> None:
    study = draft_study(direct_group={"share": 0.2, "consent": "May we ask you without a die?"}, allocation={"planned_participants": 1000})
    shown = logged_in(study.owner).get(address(study, "surveys:build_allocation"))
    rows = page_of(shown).xpath("//*[@id='group-sizes']//tbody/tr")
    cells = [[cell.text_content() for cell in row.xpath("th | td")] for row in rows]
    assert cells == [["1", "200", "200"], ["2", "200", "200"], ["asked directly", "100", "100"], ["Together", "500", "500"]]


def test_mistakes_in_the_allocation_are_named_at_their_fields() -> None:
    study = draft_study()
    client, page = logged_in(study.owner), address(study, "surveys:build_allocation")
    typed = inputs_of(client.get(page)) | {"planned_participants": "1", "block_multiples": "1, 50", "arms.slides.weight": "", "share": "x"}
    refused = client.post(page, typed)
    assert refused.status_code == 422
    named = page_of(refused).xpath("//*[@role='alert']//a/@href")
    assert named == ["#planned_participants", "#block_multiples", "#arms.slides.weight", "#share"]
    assert "As the draft stands" in page_of(refused).get_element_by_id("group-sizes").text_content()


def test_a_design_of_the_front_is_taken_into_the_draft_with_its_shares() -> None:
    study = draft_study()
    client = logged_in(study.owner)
    front = client.get(address(study)).context["front"]
    size = next(row for row in front.rows if "smallest error of the effect" in row.best_at)
    assert any(row.in_use for row in front.rows) is False
    shown = client.get(address(study) + size.address)
    assert inputs_of(shown)["model"] == "any"
    assert Study.objects.get().definition == study.definition
    assert client.post(address(study), inputs_of(shown)).status_code == 302
    die = define(Study.objects.get().definition).die
    assert die.sides == 20
    assert [(len(faces.no), len(faces.yes)) for faces in die.subsamples.values()] == [(2, 13), (4, 4), (13, 2)]
    assert die.weights == {"2": 8}


def test_links_to_designs_keep_the_assumption_that_is_typed() -> None:
    links = look(draft_study(), model="share", share="30").context["front"].rows
    assert all("model=share&share=30&" in row.address for row in links)


def test_a_weight_that_is_none_is_named_and_stays_in_its_input() -> None:
    study = draft_study()
    client = logged_in(study.owner)
    refused = client.post(address(study), inputs_of(client.get(address(study))) | {"weight1": "many"})
    assert refused.status_code == 422
    assert "not “many”" in page_of(refused).xpath("string(//*[@role='alert'])")
    assert inputs_of(refused)["weight1"] == "many"


FEW = "48 people who answer with the die find a difference of 20 points 10 times in 100; to find it 80 times in 100 takes"


@pytest.mark.parametrize("page", ["surveys:study", "surveys:build", "surveys:build_allocation", "analysis:build_die"])
@pytest.mark.parametrize("planned", [48, 2000])
def test_pages_say_when_so_few_people_would_find_little(page: str, planned: int) -> None:
    study = draft_study(allocation={"planned_participants": planned})
    said = " ".join(page_of(logged_in(study.owner).get(reverse(page, args=[study.slug]))).text_content().split())
    assert (FEW in said) == (planned == 48)


def test_what_people_can_find_follows_the_number_that_is_typed() -> None:
    study = draft_study()
    client, page = logged_in(study.owner), "surveys:build_allocation"
    inputs = inputs_of(client.get(address(study, page)))
    looked = client.post(address(study, page), inputs | {"planned_participants": "2000"}, headers={"HX-Request": "true"})
    said = page_of(looked).get_element_by_id("findable")
    words = " ".join(said.text_content().split())
    assert "2,000 people who answer with the die find a difference of 20 points 98 times in 100. The smallest" in words
    assert "that they find 80 times in 100 is one of" in words, "and nobody has to guess which of two shares “that often” was"
    assert said.get("class") is None


def test_people_who_are_asked_directly_are_not_counted() -> None:
    direct = {"share": 0.25, "consent": {"en": "May we ask you without a die?", "de": "Dürfen wir ohne Würfel fragen?"}}
    found = findable(definition(allocation={"planned_participants": 1000}, direct_group=direct))
    assert (found.n, found.is_enough) == (750, False)


def test_questions_with_named_answers_follow_the_die_or_say_that_they_cannot() -> None:
    study = draft_study(questions=with_frequency())
    said = facts_of(look(study))
    assert "ε of “How often did you copy an answer this term?”1.0987" in said
    assert "ε = 1.3863 for each yes-or-no answer, 6.6438 in total." in said
    assert "no fair die with 4 sides forces 3 categories" in facts_of(look(study, die="4", group1="yynt", group2="ynnt")).lower()
    client = logged_in(study.owner)
    ten = {"die": "10", "group1": "yynnnttttt", "group2": "yyynnttttt"}
    assert client.post(address(study), inputs_of(client.get(address(study))) | MIRRORED | ten).status_code == 302
    changed = define(Study.objects.get().definition)
    asked = changed.category_questions[0]
    assert changed.epsilons[asked.name] <= changed.design().epsilon + 1e-9, "its faces protect as much on the larger die"
