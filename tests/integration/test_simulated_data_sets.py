"""Students of the example files are called simulated wherever they go, whatever somebody calls them."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis.models import DataSet
from analysis.sources.table_files import SIMULATED
from candor.packages.archive import files_in
from surveys.reading.apart import NotReadError
from tests import data_sets
from tests.api_requests import API
from tests.factories import logged_in, person
from tests.record_sets import TYPED, bring, courses_file, page, published, record_set, students_file, words

pytestmark = pytest.mark.django_db
KEY = f"{SIMULATED}{{}}"
RECORDS: dict[str, str | bytes] = {"students.csv": students_file(number=KEY), "maths.csv": courses_file(number=KEY)}
SAYS_THE_CONTRARY = "Real students, who are not simulated"


@pytest.mark.parametrize(
    ("brought", "file"),
    [
        (data_sets.TABLE, data_sets.quiz_file(key=KEY)),
        (data_sets.TABLE, data_sets.quiz_file(key=KEY).replace(",law,", ",art,").replace("simulated-7,", "Simulated-my-own,")),
        (data_sets.TABLE, "\n".join(data_sets.quiz_file(key=KEY).splitlines()[:30])),
        (data_sets.TEXTS, data_sets.texts_file(key=KEY)),
    ],
    ids=["as it is", "with other answers", "shorter", "texts"],
)
def test_the_title_says_it_whatever_somebody_writes(brought: object, file: str) -> None:
    made = data_sets.data_set(brought=brought, file=file, title=SAYS_THE_CONTRARY)
    assert (made.title, made.simulated) == (f"{SAYS_THE_CONTRARY} (simulated data)", True)
    owner = logged_in(made.owner)
    assert made.title in words(owner.get(reverse("analysis:data_sets")))
    (told,) = owner.get(f"{API}data-sets/").json()
    assert (told["title"], told["simulated"]) == (made.title, True)


def test_no_title_is_too_long_to_say_it() -> None:
    made = data_sets.data_set(file=data_sets.quiz_file(key=KEY), title="t" * 200)
    assert made.title.endswith("t (simulated data)")
    assert len(made.title) == 200


def test_people_are_not_called_simulated() -> None:
    made = data_sets.data_set(title="A simulated exam")
    assert (made.title, made.simulated) == ("A simulated exam", False)


@pytest.mark.parametrize("brought", [data_sets.TABLE, data_sets.TEXTS], ids=["table", "texts"])
def test_simulated_students_are_not_mixed_with_people(brought: object) -> None:
    file = data_sets.quiz_file(n=40, key=KEY) if brought is data_sets.TABLE else data_sets.texts_file(key=KEY)
    with pytest.raises(NotReadError, match="39 of 40 students are simulated, as their keys say: bring them without the others"):
        data_sets.data_set(brought=brought, file=file.replace("simulated-5,", "ada,"))
    assert not DataSet.objects.exists()


def test_simulated_records_are_not_mixed_with_people() -> None:
    mixed = {name: str(text).replace("simulated-5,", "ada,") for name, text in RECORDS.items()}
    answer = bring(logged_in(person(Role.INVESTIGATOR)), TYPED, dict(mixed))
    assert "59 of 60 students are simulated" in words(answer)
    assert not DataSet.objects.exists()


def test_published_records_say_it_on_every_page_and_in_every_description() -> None:
    made = record_set(files=RECORDS, title=SAYS_THE_CONTRARY)
    title = f"{SAYS_THE_CONTRARY} (simulated data)"
    officer, visitor = logged_in(person(Role.IRB_OFFICER)), Client()
    package = published(made)
    assert title in words(officer.get(page(made)))
    for name in (page(made, "public_records"), reverse("analysis:public_releases")):
        shown = words(visitor.get(name))
        assert title in shown
        assert "simulated students, who are nobody" in shown
    files = files_in(bytes(package.package or b""))
    for name in ("README.md", "CITATION.cff", "croissant.json", "datacite.xml", "datapackage.json"):
        assert title in files[name].decode(), name
        assert "simulated students, who are nobody" in " ".join(files[name].decode().split()), name
    assert "for simulated data: nobody" in files["LICENSE"].decode()
    assert json.loads(files["datapackage.json"])["keywords"][0] == "simulated data"
    assert json.loads(files["protocol.json"])["title"] == title
