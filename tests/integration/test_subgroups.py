"""Planned comparisons of subgroups: from the draft to the closed study, for people who run it, and never a table too many."""

import csv
import json

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from analysis import services as analysis
from analysis.answers import subgroups as computing
from analysis.models import Run, RunKind, RunStatus
from analysis.stored_results import read_results
from candor.subgroups.disclosure import MOST_GROUPS as COMPARED
from surveys.batches.rules import LEAST
from surveys.definition import MOST_GROUPS
from surveys.errors import DefinitionError
from surveys.journey import services as participation
from surveys.models import Participant, Step, Study
from surveys.studies import services as studies
from surveys.study_file import read_study_file, write_study_file
from surveys.tokens import hash_of_withdrawal_code
from tests.categories import FREQUENCY, PROBATION
from tests.factories import definition, draft_study, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute, count_everybody
from tests.jobs import catch

pytestmark = pytest.mark.django_db
WITH_GENDER = {"subgroups": ["gender"], "die": TELLING_DIE, "allocation": {"planned_participants": 480, "block_multiples": [1]}}
CODE = "0123-4567-89AB-CDEF"


@pytest.fixture(autouse=True)
def _sent(monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)


@pytest.fixture
def study() -> Study:
    made = recruiting_study(**WITH_GENDER)
    add_finished_people(made, 400, seed=3)
    for index, person in enumerate(Participant.objects.filter(study=made).order_by("arm", "subsample", "pk")):
        person.background = {"gender": ("woman", "man")[index % 2]}
        person.save(update_fields=["background"])
    count_everybody(made)
    return made


def closed(study: Study) -> Study:
    studies.close(Study.objects.get(pk=study.pk), actor=study.owner)
    study.refresh_from_db()
    analysis.refresh_when_everyone_is_counted(Study, study_id=study.pk)
    return study


def stored(study: Study):
    found = read_results(compute(study, RunKind.FULL_RESULTS))
    assert found is not None
    return found.subgroups


def withdraws(study: Study) -> Participant:
    gone = Participant.objects.filter(study=study, counted=True, step=Step.FINISHED).order_by("pk").first()
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    assert participation.withdraw(study, code=CODE)
    return gone


def client_for(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_they_are_computed_once_after_the_end_and_never_released(study: Study) -> None:
    running = stored(study)
    assert not running.ended
    assert running.outcomes == ()
    found = stored(closed(study))
    assert found.ended
    assert not found.for_publication
    (one,) = (one for one in found.outcomes if one.question == "attention")
    assert (one.variable, one.planned) == ("gender", True)
    assert [row.group for row in one.effects] == ["man", "woman"]
    assert sum(row.n for row in one.effects) == 400
    assert {test.of for test in one.interaction} == {"honest_times_effect", "effect"}


def test_a_withdrawal_after_the_end_deletes_them_for_good(study: Study) -> None:
    before = stored(closed(study))
    assert before.outcomes
    withdraws(study)
    assert not Run.objects.filter(study=study, status=RunStatus.DONE).exists()
    after = stored(study)
    assert after.withdrawn
    assert after.outcomes == ()


def test_computed_again_they_would_tell_what_one_person_reported(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack, with the rule switched off: hide_withdrawal holds people of the same arm and subsample back, of whatever gender.

    Among women, the table before and after differs by fewer than ten people.
    """
    before = stored(closed(study))
    withdraws(study)
    monkeypatch.setattr(computing, "others_are_shown_than_at_the_end", lambda study: False)
    after = stored(study)
    people = [{row.group: row.n for row in found.outcomes[0].effects} for found in (before, after)]
    moved = {group: people[0][group] - people[1][group] for group in people[0]}
    assert any(0 < abs(people) < LEAST for people in moved.values()), moved


def test_groups_with_a_small_cell_are_not_shown_and_the_page_says_so(study: Study) -> None:
    few = list(Participant.objects.filter(study=study, background__gender="man").values_list("pk", flat=True)[:150])
    Participant.objects.filter(pk__in=few).update(background={"gender": "woman"})
    assert stored(closed(study)).outcomes == ()
    page = client_for(study.owner).get(reverse("analysis:results", args=[study.slug])).content.decode()
    assert "groups are too small" in page


def test_the_page_the_table_the_figure_and_the_api_show_them_to_people_who_run_the_study(study: Study) -> None:
    client = client_for(study.owner)
    stored(study)
    assert "is computed once, when the study is closed" in client.get(reverse("analysis:results", args=[study.slug])).content.decode()
    stored(closed(study))
    page = client.get(reverse("analysis:results", args=[study.slug])).content.decode()
    assert "By subgroup: " in page
    assert "whether the groups differ" in page or "The groups differ" in page
    table = client.get(reverse("analysis:table", args=[study.slug, "subgroups"])).content.decode()
    assert table.splitlines()[0].startswith("question,subgroup,group,n")
    assert "shrunken_honest_times_effect" in table
    figure = client.get(reverse("analysis:figure", args=[study.slug, "subgroups-attention-gender", "svg"]))
    assert figure.status_code == 200
    document = client.get(reverse("analysis:api_results", args=[study.slug])).json()
    assert document["full_results"]["subgroups"]["for_publication"] is False
    assert document["full_results"]["subgroups"]["outcomes"][0]["variable"] == "gender"


def test_the_builder_freezes_the_choice_with_the_protocol() -> None:
    study = draft_study()
    client = client_for(study.owner)
    address = reverse("surveys:build_subgroups", args=[study.slug])
    page = client.get(address)
    loaded = page.context["loaded"]
    assert client.post(address, {"loaded": loaded, "subgroups": ["gender"]}).status_code == 302
    study.refresh_from_db()
    assert study.definition["subgroups"] == ["gender"]
    assert "checked" in client.get(address).content.decode()
    running = recruiting_study(slug="running", **WITH_GENDER)
    assert "disabled" in client_for(running.owner).get(reverse("surveys:build_subgroups", args=["running"])).content.decode()
    with pytest.raises(DefinitionError):
        studies.change_definition(running, definition=definition(slug="running", **(WITH_GENDER | {"subgroups": []})), actor=running.owner)


@pytest.mark.parametrize("wrong", [["courses"], ["nothing"], ["gender", "gender"], ["devices"]])
def test_only_questions_whose_answers_make_groups_can_be_chosen(wrong: list[str]) -> None:
    with pytest.raises(DefinitionError, match=r"subgroups"):
        definition(subgroups=wrong)


def test_the_study_file_the_packet_and_the_comparison_of_versions_have_them() -> None:
    planned = definition(subgroups=["gender"])
    assert read_study_file(write_study_file(planned)).subgroups == ("gender",)
    assert "subgroups" not in write_study_file(definition())
    from surveys.review.changes import changes_between

    (change,) = changes_between(definition(), planned, old_files={}, new_files={}, language_names={})
    assert (change.section, change.label, change.new) == ("analysis", "subgroups", "gender")
    study = draft_study(**WITH_GENDER)
    studies.submit_for_review(study, actor=study.owner)
    page = client_for(study.owner).get(reverse("surveys:protocol", args=[study.slug])).content.decode()
    assert "the effects are compared between the answers to this question" in page


def test_as_many_groups_may_be_planned_as_can_be_compared() -> None:
    assert MOST_GROUPS == COMPARED


def test_named_answers_are_compared_too_and_background_answers_are_not() -> None:
    twenty = {"1": [[*range(1, 5)], [*range(5, 9)], [*range(9, 17)]], "2": [[*range(1, 9)], [*range(9, 13)], [*range(13, 17)]]}
    answers = ("never", "once", "often"), ("never", "before", "now")
    faces = [{subsample: dict(zip(names, one, strict=True)) for subsample, one in twenty.items()} for names in answers]
    questions = [{**FREQUENCY, "cheaters": "never", "faces": faces[0]}, {**PROBATION, "faces": faces[1]}]
    study = recruiting_study(questions=questions, **WITH_GENDER)
    add_finished_people(study, 400, seed=3)
    for index, person in enumerate(Participant.objects.filter(study=study).order_by("arm", "subsample", "pk")):
        person.background = {"gender": ("woman", "man")[index % 2]}
        person.save(update_fields=["background"])
    count_everybody(study)
    found = stored(closed(study))
    (one,) = found.outcomes
    assert (one.question, one.variable, one.planned) == ("copying", "gender", True)
    assert sum(row.n for row in one.effects if (row.measure, row.category) == ("category", "often")) == 400
    assert {(test.of, test.df) for test in one.interaction} == {("honest_times_effect", 2), ("effect", 2)}
    client = client_for(study.owner)
    page = client.get(reverse("analysis:results", args=[study.slug])).content.decode()
    assert "By subgroup: " in page
    assert "“More often” or above" in page
    assert "on any answer" in page or "on some answer" in page
    table = list(csv.DictReader(client.get(reverse("analysis:table", args=[study.slug, "subgroups"])).content.decode().splitlines()))
    assert {(row["quantity"], row["category"]) for row in table} >= {
        ("effect_on_category", "never"), ("honest_times_effect_on_at_least", "often"), ("shrunken_honest_times_effect_on_mean_score", ""),
    }  # fmt: skip
    figure = client.get(reverse("analysis:figure", args=[study.slug, "subgroups-copying-gender", "svg"])).content.decode()
    assert "percentage points more with this answer among all people" in figure
    assert "more “yes”" not in figure
    document = client.get(reverse("analysis:api_results", args=[study.slug])).json()
    (outcome,) = document["full_results"]["subgroups"]["outcomes"]
    assert (outcome["effects"][0]["measure"], outcome["effects"][0]["category"]) == ("category", "never")
    assert not any("subgroups" in json.dumps(one) for one in document["categories"])
