"""The data package of a study whose sections were assigned as a whole: with random numbers of sections, or without any."""

import json
import runpy
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
from click.testing import CliRunner
from django.urls import reverse

import candor
from analysis.packages.rows import SMALLEST_IN_SECTION, Row, with_random_clusters
from analysis.releases import building
from candor.cli import main
from candor.errors import DataError
from candor.packages import replicate
from candor.packages.archive import files_in
from candor.packages.loading import load_package
from candor.pooling.studies import studies_of
from surveys.journey import services as participation
from surveys.models import Participant, Study
from surveys.tokens import hash_of_withdrawal_code
from tests.categories import with_frequency
from tests.factories import document, logged_in
from tests.releases import built_release, closed_study, package_of, published_release, rows_in

pytestmark = pytest.mark.django_db
CODE = "0123-4567-89AB-CDEF"
IN_EIGHT = {
    "planned_participants": 400,
    "unit": "cluster",
    "sections": [f"Class of Dr. Turing {n}" for n in range(1, 9)],
    "block_multiples": [1],
}


def test_large_sections_have_random_numbers_and_every_published_number_follows(tmp_path, capsys) -> None:
    study = closed_study(people=400, allocation=IN_EIGHT)
    assert "no estimates" not in logged_in(study.owner).get(reverse("analysis:releases", args=[study.slug])).content.decode()
    release = built_release(study)
    assert not release.summary["without_estimates"]
    rows = rows_in(release)
    assert list(rows[0])[:3] == ["arm", "subsample", "cluster"]
    assert {row["cluster"] for row in rows} == {str(n) for n in range(1, 9)}
    assert all(len({row["arm"] for row in rows if row["cluster"] == one}) == 1 for one in {row["cluster"] for row in rows})
    files = files_in(package_of(release))
    outcome = json.loads(files["results.json"])["outcomes"]["attention"]
    assert outcome["effects"][0]["method"] == "efficient_clustered"
    assert outcome["assignment"]["clusters"] == 8
    assert "sequence" not in outcome
    assert release.summary["check"]["different"] == 0
    assert "random number" in files["README.md"].decode()
    assert "`cluster`" in files["codebook.md"].decode()
    assert b"Turing" not in b"".join(content for content in files.values())
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert replicate.main(tmp_path) == 0
    assert "Every number is the same." in capsys.readouterr().out


@pytest.mark.parametrize("people", [400, 128], ids=["large sections", "small sections"])
def test_named_answers_of_sections_follow_from_the_package_or_say_why_not(people: int, tmp_path, capsys, client) -> None:
    study = closed_study(people=people, allocation=IN_EIGHT, questions=with_frequency(), die=document()["die"])
    release = published_release(study, questions=("copying",))
    files = files_in(package_of(release))
    found = json.loads(files["results.json"])["categories"]["copying"]
    assert release.summary["without_estimates"] == (people == 128)
    if people == 400:
        assert found["assignment"]["clusters"] == 8
        assert (found["model_test"], found["prevalence"]) == (None, [])
    else:
        assert "the data do not tell who was in which" in found["not_estimated"]
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert replicate.main(tmp_path) == 0
    assert "Every number is the same." in capsys.readouterr().out
    assert "the other programs leave whole sections to it" in files["README.md"].decode()
    without = runpy.run_path(str(tmp_path / "replicate_numpy.py"))
    protocol, results = (json.loads(files[name]) for name in ("protocol.json", "results.json"))
    computed = without["recomputed"](rows_in(release), protocol, results)
    assert computed["categories"] == {"copying": {"n": found["n"]}}
    assert without["main"](tmp_path) == 0
    assert "an answer this term?\n  left to replicate.py, or none: whole sections were assigned" in capsys.readouterr().out
    page = client.get(reverse("analysis:public_release", args=[study.slug, release.version]))
    assert page.status_code == 200
    results["categories"]["copying"]["n"] += 1
    (tmp_path / "results.json").write_text(json.dumps(results))
    assert replicate.main(tmp_path) == 1


def test_the_numbers_are_drawn_anew_for_every_package() -> None:
    rows = [
        Row(arm="a", subsample=subsample, answers=(n % 2,), cluster=section)
        for section in "12345678"
        for subsample in "12"
        for n in range(10)
    ]
    drawn = {tuple(row.cluster for row in with_random_clusters(rows)) for _ in range(8)}
    assert len(drawn) > 1
    assert all(sorted(Counter(one).values()) == [20] * 8 for one in drawn)


@pytest.mark.parametrize("missing", [0, 1])
def test_one_person_fewer_than_ten_and_no_row_tells_a_section(missing: int) -> None:
    rows = [Row(arm="a", subsample=s, answers=(1,), cluster=c) for c in "12" for s in "12" for _ in range(SMALLEST_IN_SECTION)]
    told = any(row.cluster for row in with_random_clusters(rows[missing:]))
    assert told == (not missing)


def test_small_sections_are_not_told_and_replicate_says_what_it_cannot_compute(tmp_path, capsys) -> None:
    study = closed_study(people=128, allocation=IN_EIGHT)
    client, address = logged_in(study.owner), reverse("analysis:releases", args=[study.slug])
    assert "The package will have no estimates. Some section has fewer than 10 people" in client.get(address).content.decode()
    release = built_release(study)
    assert "cluster" not in rows_in(release)[0]
    looked_at = client.get(reverse("analysis:releases_one", args=[study.slug, release.pk])).content.decode()
    assert "This package has no estimates." in looked_at
    files = files_in(package_of(release))
    outcome = json.loads(files["results.json"])["outcomes"]["attention"]
    assert set(outcome) == {"n", "not_estimated"}
    assert "nobody can compute standard errors" in files["README.md"].decode()
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert replicate.main(tmp_path) == 0
    assert "no estimates: clusters were assigned as a whole, and the data do not tell" in capsys.readouterr().out


def test_pooling_refuses_such_a_package_instead_of_taking_people_for_independent(tmp_path) -> None:
    files = files_in(package_of(built_release(closed_study(people=400, allocation=IN_EIGHT))))
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    one = load_package(tmp_path)
    other = replace(one, protocol={**one.protocol, "study": "another"}, allocation_lists=frozenset())
    with pytest.raises(DataError, match="assigned clusters as a whole"):
        studies_of([one, other], simulated=False, verify=False, key=None)


@pytest.mark.parametrize("people", [400, 128], ids=["large sections", "small sections"])
def test_nobody_analyses_such_a_package_as_if_people_were_independent(people: int, tmp_path) -> None:
    """The trap: docs/releases.md says `candor estimate data.csv --design protocol.json`, which gave errors that were too small."""
    study = closed_study(people=people, allocation=IN_EIGHT, questions=with_frequency(), die=document()["die"])
    for name, content in files_in(package_of(built_release(study, questions=("attention", "copying")))).items():
        (tmp_path / name).write_bytes(content)
    package = load_package(tmp_path)
    data, published = str(tmp_path / "data.csv"), {**package.results["outcomes"], **package.results["categories"]}
    for design, question in {"protocol.json": "attention", "design.json": "attention", "design-copying.json": "copying"}.items():
        asked = ["estimate", data, "--design", str(tmp_path / design), "--outcome", f"answer_{question}", "--format", "json"]
        refused = CliRunner().invoke(main, asked)
        assert (refused.exit_code, "the design assigned whole clusters" in refused.output) == (2, True), refused.output
        found = CliRunner().invoke(main, [*asked, "--cluster", "cluster"])
        assert found.exit_code == (0 if people == 400 else 2), found.output
        if people == 400:
            effects, before = json.loads(found.stdout)["outcomes"][f"answer_{question}"]["effects"], published[question]["effects"]
            assert [one["standard_error"] for one in effects] == pytest.approx([one["standard_error"] for one in before])
    (named,) = package.protocol["category_questions"]
    for analyse, design in product((candor.estimate, candor.regress), (package.design, package.protocol["design"])):
        with pytest.raises(DataError, match="the design assigned whole clusters"):
            analyse(package.frame, design, outcomes=list(package.outcomes))
    with pytest.raises(DataError, match="the design assigned whole clusters"):
        candor.estimate(package.frame, named["design"], outcomes=[named["column"]])
    said = CliRunner().invoke(main, ["regress", data, "--design", str(tmp_path / "protocol.json"), "--outcome", "answer_attention"])
    assert (said.exit_code, "a regression takes people for independent" in said.output) == (2, True), said.output


def test_two_packages_around_a_withdrawal_differ_by_ten_people_of_one_section_and_subsample() -> None:
    """The attack: somebody keeps both packages, knows the section of the person who withdrew, and compares the sizes of sections.

    Held back from the whole arm, the nine others would be of other sections, and the missing row of that section the person's own.
    """
    study = closed_study(people=400, allocation=IN_EIGHT)
    before = rows_in(built_release(study))
    gone = Participant.objects.filter(study=study, counted=True).order_by("pk").first()
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    assert participation.withdraw(study, code=CODE)
    building.discard_outdated(study.pk)
    after = rows_in(built_release(Study.objects.get(pk=study.pk)))
    sizes = [sorted(Counter((row["arm"], row["subsample"], row["cluster"]) for row in rows).values()) for rows in (before, after)]
    assert sum(sizes[0]) - sum(sizes[1]) >= SMALLEST_IN_SECTION
    moved = Counter(sizes[0])
    moved.subtract(Counter(sizes[1]))
    assert sum(abs(times) for times in moved.values()) == 2, "one cell is smaller, all others are as they were"
