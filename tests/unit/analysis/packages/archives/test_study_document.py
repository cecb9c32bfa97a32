"""study.yaml of a package: read back it is the study that was run, without what is nobody's business."""

from analysis.packages.archives.study_document import NOBODY, study_document
from surveys.questions.parts import Text
from surveys.study_file import document_of, read_study_file
from tests.factories import definition


def test_the_study_is_read_back_but_for_what_is_left_out():
    study = definition(
        entry={"kind": "open", "listed": True}, random_order=["background", "quiz"], release_plan={"en": "Soon.", "de": "Bald."}
    )
    again = document_of(read_study_file(study_document(study, {})))
    left_out = {"quiz", "entry", "release_plan", "contact", "random_order"}
    assert {name: value for name, value in document_of(study).items() if name not in left_out} == {
        name: value for name, value in again.items() if name not in left_out
    }
    assert {name: again[name] for name in left_out & set(again)} == {"contact": NOBODY, "random_order": ["background"]}


def test_neither_the_contact_nor_quiz_answers_nor_sections_are_told():
    sections = ["Monday Lovelace", "Tuesday Hopper", "Wednesday", "Thursday"]
    study = definition(allocation={"planned_participants": 480, "unit": "cluster", "sections": sections, "block_multiples": [1]})
    text = study_document(study, {})
    assert isinstance(study.contact, Text)
    assert not [contact for contact in study.contact.root.values() if contact in text]
    assert not [item.name for item in study.quiz for option in item.options if option.text.in_language("en") in text]
    assert "Lovelace" not in text
    assert len(read_study_file(text).sections) == 4


def test_the_files_that_people_saw_have_their_hashes():
    study = definition()
    hashes = {name: f"{number:064x}" for number, name in enumerate(sorted(study.files()))}
    lines = study_document(study, {**hashes, "never-shown.mp4": "f" * 64}).splitlines()
    assert [line for line in lines if line.startswith("# 0")] == [f"# {hashes[name]}  {name}" for name in sorted(study.files())]
    assert "never-shown.mp4" not in "\n".join(lines)
