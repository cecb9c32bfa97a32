"""Creators, funding and dates of a study: what is taken, what is refused, and how lines of authors are read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from surveys.definition import StudyDefinition
from surveys.questions.publication import CREDIT, ROR_SITE, Publication, checked_orcid, checked_ror
from surveys.study_file import read_study_file, write_study_file
from tests.factories import definition
from tests.publications import FULL, PUBLICATION

ORCIDS = ("0000-0002-1825-0097", "0000-0001-5109-3700", "0000-0002-1694-233X")
"""From ORCID's own documentation; the last one ends with ten, which is X."""
RORS = ("04cw6st05", "05dxps055", "042nb2s44", "03vek6s52", "02nr0ka47")
"""Those of the University of London, Caltech, MIT, Harvard, and a registry's own example."""


@pytest.mark.parametrize("orcid", ORCIDS)
@pytest.mark.parametrize("written", ["{}", "https://orcid.org/{}", "http://www.orcid.org/{}/", " {} "])
def test_an_orcid_is_taken_in_every_usual_way_of_writing(orcid: str, written: str) -> None:
    assert checked_orcid(written.format(orcid)) == orcid


@pytest.mark.parametrize("ror", RORS)
@pytest.mark.parametrize("written", ["{}", "https://ror.org/{}", "ror.org/{}", "HTTPS://ROR.ORG/{}/"])
def test_a_ror_is_taken_in_every_usual_way_of_writing(ror: str, written: str) -> None:
    assert checked_ror(written.format(ror)) == ROR_SITE + ror


@given(orcid=st.sampled_from(ORCIDS), place=st.integers(0, 18), digit=st.sampled_from("0123456789"))
def test_every_single_mistyped_digit_of_an_orcid_is_found(orcid: str, place: int, digit: str) -> None:
    changed = orcid[:place] + digit + orcid[place + 1 :]
    if changed == orcid:
        return
    with pytest.raises(ValueError, match="expected an ORCID"):
        checked_orcid(changed)


@given(ror=st.sampled_from(RORS), place=st.integers(1, 8), sign=st.sampled_from("0123456789abcdefghjkmnpqrstvwxyz"))
def test_every_single_mistyped_sign_of_a_ror_is_found(ror: str, place: int, sign: str) -> None:
    changed = ror[:place] + sign + ror[place + 1 :]
    if changed == ror:
        return
    with pytest.raises(ValueError, match="expected a ROR"):
        checked_ror(changed)


@pytest.mark.parametrize(
    ("part", "complaint"),
    [
        ({"creators": [{"name": "Ada", "orcid": "0000-0002-1825-0098"}]}, "is a digit mistyped"),
        ({"creators": [{"name": "Ada", "ror": "04cw6st05"}]}, "name of the institution"),
        ({"creators": [{"name": "Ada", "roles": ["genius"]}]}, "conceptualization"),
        ({"creators": [{"name": "Ada", "roles": ["software", "software"]}]}, "found again: software"),
        ({"creators": [{"name": "A", "orcid": ORCIDS[0]}, {"name": "B", "orcid": ORCIDS[0]}]}, "found again"),
        ({"creators": [{"name": "A\nB"}]}, "match pattern"),
        ({"funding": [{"award": "1"}]}, "Field required"),
        ({"funding": [{"funder": "DFG", "ror": "https://ror.org/018mejw65"}]}, "expected a ROR whose last two digits"),
        ({"keywords": ["Die", "die"]}, "found again"),
        ({"contact": {"name": "Office", "email": "office"}}, "match pattern"),
        ({"collected": {"first": "2026-10-05", "last": "2026-12"}}, "no day"),
        ({"collected": {"first": "2026-13", "last": "2026-12"}}, "expected a year or a month"),
        ({"collected": {"first": "2027", "last": "2026-12"}}, "not before the first"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(part: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        Publication.model_validate(part)


def test_the_study_file_keeps_all_and_reads_years_as_they_are_typed() -> None:
    study = definition(publication=FULL)
    assert study.publication == PUBLICATION
    assert read_study_file(write_study_file(study)) == study
    text = write_study_file(study).replace("2026-10", "2026").replace("2026-12", "2026")
    assert read_study_file(text).publication.collected.interval == "2026"


def test_a_study_file_from_before_says_nothing_and_stays_as_it_was() -> None:
    study = definition()
    assert study.publication == Publication()
    assert "publication" not in write_study_file(study)
    assert isinstance(study, StudyDefinition)


def test_a_line_of_authors_keeps_what_the_study_tells_of_that_name() -> None:
    found = PUBLICATION.with_authors(["Hopper, Grace 0000-0001-5109-3700", "A group", "Lovelace, Ada"])
    assert found.authors == ["Hopper, Grace", "A group", "Lovelace, Ada"]
    assert [one.orcid for one in found.creators] == ["0000-0001-5109-3700", None, "0000-0002-1825-0097"]
    assert found.creators[2] == PUBLICATION.creators[0]
    assert found.funding == PUBLICATION.funding
    assert found.with_authors(found.lines) == found


def test_names_alone_mean_what_they_always_meant() -> None:
    found = Publication().with_authors(["Lovelace, Ada", "Hopper, Grace", "Hopper, Grace"])
    assert found.authors == ["Lovelace, Ada", "Hopper, Grace", "Hopper, Grace"]
    assert [one.parts for one in found.creators] == [("Lovelace", "Ada"), ("Hopper", "Grace"), ("Hopper", "Grace")]
    assert all((one.orcid, one.institution, one.roles) == (None, None, ()) for one in found.creators)


def test_the_roles_are_those_of_the_taxonomy() -> None:
    assert len(CREDIT) == 14
