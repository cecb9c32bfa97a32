"""A character that turns the direction of writing turns a page's own words round. No new text may have one; stored ones are still read."""

import json
from copy import deepcopy

import pytest
from django.urls import reverse

from accounts.models import Role
from surveys.errors import DefinitionError
from surveys.models import Study
from surveys.studies.services import change_definition, create_study
from surveys.study_file import define, study_from_outside
from tests.factories import definition, document, draft_study, logged_in, page_of, person
from tests.integration.test_builder import inputs

TURNED = "\u202elanif\u202c"
pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("sign", [*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))])
def test_no_new_study_has_one(sign: str) -> None:
    with pytest.raises(DefinitionError, match=rf"^title: here is a character that nobody can see, U\+{ord(sign):04X}\. Type"):
        create_study(definition=definition(title=f"A{sign}title"), owner=person(Role.INVESTIGATOR))


def test_a_study_file_and_a_program_are_told_the_place() -> None:
    sent = deepcopy(document())
    sent["questions"][0]["text"] = {"en": TURNED, "de": "Frage"}
    read = study_from_outside(json.dumps(sent).encode())
    with pytest.raises(DefinitionError) as refused:
        create_study(definition=read, owner=person(Role.INVESTIGATOR))
    assert [place for place, _words in refused.value.fields] == ["questions.0.text.en"]
    owner = person(Role.INVESTIGATOR)
    answer = logged_in(owner).post(reverse("surveys:api_studies"), json.dumps(sent), content_type="application/json")
    assert (answer.status_code, "questions.0.text.en" in answer.content.decode()) == (400, True)
    assert not Study.objects.exists()


def test_the_builder_says_it_beside_the_text() -> None:
    study = draft_study()
    page, browser = reverse("surveys:build_about", args=[study.slug]), logged_in(study.owner)
    refused = browser.post(page, inputs(browser.get(page)) | {"title.en": f"A {TURNED} title"})
    assert refused.status_code == 422
    assert "Here is a character that nobody can see." in page_of(refused).xpath('//*[@id="title.en-error"]')[0].text_content()


def test_a_stored_draft_with_one_can_be_read_and_changed_elsewhere() -> None:
    study = draft_study()
    stored = {**study.definition, "title": TURNED}
    Study.objects.filter(pk=study.pk).update(definition=stored)
    change_definition(study, definition=define({**stored, "contact": "somebody@example.org"}), actor=study.owner)
    study.refresh_from_db()
    assert (study.definition["title"], study.definition["contact"]) == (TURNED, "somebody@example.org")
    with pytest.raises(DefinitionError, match=r"^contact: here"):
        change_definition(study, definition=define({**stored, "contact": f"{TURNED}@example.org"}), actor=study.owner)
