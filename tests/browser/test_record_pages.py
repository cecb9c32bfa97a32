"""Protected records from the preparation to the public page, by keyboard and screen reader, on a desktop and on a phone."""

import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role
from analysis.models import RecordSweep, Release
from surveys.models import Participant, Study
from tests.browser.conftest import PHONE
from tests.browser.staff import come_in
from tests.factories import PASSWORD, person
from tests.fresh_environment import built_wheel, fresh_python, run
from tests.jobs import work_off, work_on
from tests.releases import CHOICES, closed_study

Check = Callable[[Page], None]
GRADES = ("A", "B", "C", "D", "F")
COURSES = ("logic", "algebra", "statistics")


def options(*names: str) -> list[dict[str, str]]:
    return [{"name": name.lower(), "text": name} for name in names]


BACKGROUND = [
    {
        "kind": "single_choice",
        "name": "major",
        "text": "What do you study?",
        "role": "quasi_identifier",
        "options": options("Mathematics", "Physics", "Art"),
    },
    {"kind": "number", "name": "room", "text": "In which room?", "role": "auxiliary", "minimum": 1, "maximum": 9},
    {"kind": "number", "name": "year", "text": "In which year?", "role": "quasi_identifier", "minimum": 1, "maximum": 8},
    {
        "kind": "group",
        "name": "courses",
        "text": "Which courses did you take?",
        "fields": [
            {"kind": "single_choice", "name": "course", "text": "Course", "role": "quasi_identifier", "options": options(*COURSES)},
            {"kind": "single_choice", "name": "grade", "text": "Grade", "role": "sensitive", "options": options(*GRADES)},
        ],
    },
]


@pytest.fixture
def study(transactional_db: None) -> Study:
    """Students with courses and letter grades."""
    study = closed_study(background=BACKGROUND)
    rng = random.Random(5)
    for one in Participant.objects.filter(study=study).order_by("pk"):
        taken = [{"course": course, "grade": rng.choice(GRADES).lower()} for course in rng.sample(COURSES, rng.randint(0, 3))]
        one.background = {
            "major": rng.choice(["mathematics", "physics", "art"]),
            "year": rng.randint(1, 4),
            "room": rng.randint(1, 9),
            "courses": taken,
        }
        one.save(update_fields=["background"])
    return study


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment with Candor's wheel and nothing of the checkout."""
    folder = tmp_path_factory.mktemp("fresh")
    return fresh_python(folder / "venv", wheel=built_wheel(folder / "wheels"))


def test_records_are_prepared_chosen_read_by_the_officer_and_checked_by_anybody(
    new_page: Callable[..., Page],
    study: Study,
    assert_readable: Check,
    python: Path,
    tmp_path: Path,
) -> None:
    owner, officer, stranger = (new_page(viewport=PHONE, color_scheme="dark") for _ in range(3))
    come_in(owner, study.owner.get_username(), PASSWORD)
    owner.goto(f"/studies/{study.slug}/releases/")
    owner.get_by_role("link", name="Prepare protected records").press("Enter")
    expect(owner.get_by_role("rowheader", name="Which courses did you take? Grade")).to_be_visible()
    owner.get_by_text("What do you study?", exact=True).last.click()
    labels = owner.get_by_label("Labels of major")
    expect(labels).to_have_value("mathematics\nphysics\nart\nnot answered")
    labels.fill("sciences\n  mathematics\n  physics\nart\nnot answered")
    owner.get_by_role("button", name="Keep this hierarchy").first.press("Enter")
    expect(owner.get_by_text("The hierarchy was kept.")).to_be_visible()
    owner.get_by_role("button", name="Try every class size").press("Enter")
    expect(owner.get_by_text("are tried.")).to_be_visible()
    assert_readable(owner)
    sweep = RecordSweep.objects.get()
    RecordSweep.objects.update(plan=[sweep.plan[1], sweep.plan[2], *sweep.plan[-6:]])
    work_off(sweep)
    expect(owner.get_by_text("Every class size was tried.")).to_be_visible()
    owner.get_by_text("Numbers: Loss").press("Enter")
    owner.get_by_text("Twenty invented people").press("Enter")
    assert_readable(owner)

    owner.get_by_role("link", name="Anonymise or query?").press("Enter")
    expect(owner.get_by_role("heading", name="Which answers better?")).to_be_visible()
    for numbers in ("Numbers: Anonymise", "Numbers: Query"):
        owner.get_by_text(numbers).press("Enter")
    assert_readable(owner)
    owner.get_by_role("link", name="Prepare protected records").last.press("Enter")
    owner.get_by_role("link", name="Go to the release").press("Enter")
    owner.get_by_label("As protected records, joined").check()
    owner.get_by_label("k: at least so many").fill("5")
    owner.get_by_label("ℓ of “Which courses").fill("2")
    owner.get_by_label("Authors, for the citation").fill("\n".join(CHOICES.authors))
    owner.get_by_label("Title of the data").fill(CHOICES.title)
    owner.get_by_label("In which room?").press("Space")
    assert_readable(owner)
    owner.get_by_role("button", name="Build the package").press("Enter")
    expect(owner.get_by_text("A worker will begin in a moment.")).to_be_visible()
    work_on(Release.objects.get())
    expect(owner.get_by_text("The checker accepts them.")).to_be_visible()
    assert_readable(owner)
    owner.get_by_role("button", name="Ask the IRB officer to approve").click()
    expect(owner.get_by_text("An IRB officer who has no part in the study decides.")).to_be_visible()
    come_in(officer, person(Role.IRB_OFFICER).get_username(), PASSWORD)
    officer.goto(f"/studies/{study.slug}/releases/{Release.objects.get().pk}/")
    expect(officer.get_by_role("heading", name="What no parameter protects")).to_be_visible()
    assert_readable(officer)
    officer.get_by_label("room: In which room?").press("Space")
    officer.get_by_role("button", name="Confirm these and build again").press("Enter")
    expect(officer.get_by_text("A worker will begin in a moment.")).to_be_visible()
    work_on(Release.objects.get())
    owner.reload()
    expect(owner.get_by_text("are published as they are: room")).to_have_count(2)
    owner.get_by_role("button", name="Ask the IRB officer to approve").press("Enter")
    expect(owner.get_by_text("An IRB officer who has no part in the study decides.")).to_be_visible()
    officer.reload()
    assert_readable(officer)
    officer.get_by_role("button", name="Approve and publish").click()
    expect(officer.get_by_text("Public since")).to_be_visible()

    stranger.goto(f"/data/{study.slug}/1/")
    expect(stranger.get_by_text("The checker accepts them.")).to_be_visible()
    assert_readable(stranger)
    with stranger.expect_download() as download:
        stranger.get_by_role("link", name="Download the data package").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        archive.extractall(tmp_path)
    promised = ("records.json", "--k", "5", "--l", "courses.grade=2")
    done = run(python, "-I", "-m", "candor.cli", "check", *promised, "--publish", "room", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "holds: 96 records, k = 5, ℓ of courses.grade = 2\n"), done.stderr
    assert run(python, "-I", "check.py", *promised, "--auxiliary", "room", cwd=tmp_path).returncode == 0
    assert run(python, "-I", "check.py", *promised, cwd=tmp_path).returncode == 1
    done = run(python, "-I", "replicate.py", cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "Every number is the same."), done.stdout + done.stderr
    assert "(records hold)" in done.stdout
    results = json.loads((tmp_path / "results.json").read_text())
    adjusted = results["records"]["outcomes"]["attention"]["effects"]
    assert {one["method"] for one in adjusted} == {"doubly_robust", "efficient_with_covariates"}
    adjusted[0]["value"] += 1e-6
    (tmp_path / "results.json").write_text(json.dumps(results))
    assert run(python, "-I", "replicate.py", cwd=tmp_path).returncode == 1
