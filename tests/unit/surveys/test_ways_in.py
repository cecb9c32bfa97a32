"""The ways into a study: what each carries, keeps and says."""

import pytest

from surveys.definition import Entry
from surveys.ways_in import CLASS, CODES, MTURK, OPEN, PROLIFIC, QUALTRICS, SONA, WAYS_IN


def test_each_way_is_found_by_its_name_and_an_open_link_is_the_usual_one() -> None:
    assert list(WAYS_IN.values()) == [OPEN, CLASS, CODES, PROLIFIC, SONA, MTURK, QUALTRICS]
    assert [Entry(kind=name).way for name in WAYS_IN] == list(WAYS_IN.values())
    assert Entry().way is OPEN


@pytest.mark.parametrize("name", WAYS_IN)
def test_what_a_way_keeps_it_says_to_officers_and_to_participants(name: str) -> None:
    way = WAYS_IN[name]
    assert str(way.label)
    assert str(way.admits)
    assert (way.kept is not None) == (way.takes_code or way.is_panel)
    assert bool(way.written) == way.is_panel
    assert {one.name for one in way.parameters} >= {way.identifier_in, way.study_in, way.previews_by[0]} - {""}
    if way.kept:
        assert all(str(words) for words in (way.kept.what, way.kept.how, way.kept.why, way.kept.deleted, way.kept.told))


def test_officers_read_from_which_panel_people_come() -> None:
    assert str(PROLIFIC.admits) == "People sent by Prolific. A hash of their number there is kept apart from their answers."
    assert SONA.kept is not None
    assert str(SONA.kept.what) == "Number at SONA"
