"""A study from nothing to public data, by four people in real browsers, on the embedded server with its worker."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.staff import come_in
from tests.processes import Site, embedded

LECTURES = Path(__file__).resolve().parents[2] / "surveys" / "sample" / "lectures"
BOTS = 120
A_WORKER_MAY_TAKE = 120_000


@pytest.fixture
def desk(tmp_path: Path, migrated_folder: Path) -> Iterator[Site]:
    """A new installation, as `make demo` starts it: one person of each role."""
    with embedded(tmp_path / "var", like=migrated_folder, demo_bots=0) as running:
        yield running


@pytest.fixture
def site(desk: Site) -> str:
    return desk.url


def log_in(page: Page, username: str, desk: Site) -> None:
    come_in(page, username, (desk.folder / "demo_password").read_text().strip())


def save(page: Page) -> None:
    with page.expect_navigation():  # not at once: the button waits for what the page saves by itself
        page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_have_count(0)


def fill_the_gaps(page: Page, label: str, text: Callable[[str], str]) -> None:
    """Fill in the parts that the starting document leaves open."""
    field = page.get_by_label(label, exact=True)
    field.fill(text(field.input_value()))
    save(page)


def build(page: Page) -> str:
    """The demonstration study in the builder; its address."""
    page.get_by_role("link", name="New study").first.click()
    page.get_by_label("Title").fill("Lectures with and without a face")
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Build the study")
    home = page.url.removesuffix("build/")

    page.goto(f"{home}build/about/")
    page.get_by_label("Summary").fill("Watch a short lecture and answer a few questions. It takes about five minutes.")
    page.get_by_label("Contact").fill("lab@example.org")
    save(page)
    for part in ("consent", "debrief"):
        page.goto(f"{home}build/{part}/")
        fill_the_gaps(page, "Text", lambda text: re.sub(r"\[\[.*?\]\]", "the lab for learning", text))
    for arm, (label, name) in enumerate((("Slides only", "slides-only"), ("Slides with the instructor", "with-instructor"))):
        page.goto(f"{home}build/arms/")
        page.locator(".builder-arms h2 a").nth(arm).click()
        for number, (kind, file) in enumerate(
            (("video", f"{name}.webm"), ("video", f"{name}.mp4"), ("captions", "captions-en.vtt")), start=1
        ):
            form = page.locator("[data-upload]", has=page.locator(f"input[value={kind}]"))
            form.locator("input[type=file]").set_input_files(LECTURES / file)
            form.locator("button").click()
            expect(page.locator(".builder-stored")).to_have_count(number)
        page.get_by_label("What this arm is").fill(label)
        save(page)
    page.goto(f"{home}build/background/")
    page.get_by_role("link", name=re.compile("Add")).first.click()
    page.get_by_label("Question", exact=True).fill("In which year of your studies are you?")
    page.locator("input[value=number]").check()
    page.get_by_label("Smallest answer").fill("1")
    page.get_by_label("Largest answer").fill("8")
    page.locator("input[value=quasi_identifier]").check()
    save(page)
    page.goto(f"{home}build/questions/")
    page.locator(".builder-item a").first.click()
    page.get_by_label("Question", exact=True).fill("Did your attention wander?")
    save(page)
    page.goto(f"{home}build/allocation/")
    page.get_by_label("Planned participants", exact=True).fill("600")
    save(page)
    return home


def sends_bots_and_finds_what_was_planted(page: Page, home: str) -> None:
    """A 95 % interval may miss what was planted; five of them in a row do so once in three million times."""
    for _attempt in range(5):
        page.goto(f"{home}rehearsal/")
        for label, value in (("Bots", "250"), ("Prevalence", "30"), ("Effect", "40"), ("Cheaters", "10")):
            page.get_by_label(label, exact=True).fill(value)
        page.get_by_role("button", name="Send the bots").click()
        effect = page.get_by_role("row").filter(has_text=re.compile("effect", re.IGNORECASE)).first
        expect(effect.get_by_role("cell").first).to_have_text("0.400", timeout=A_WORKER_MAY_TAKE)
        inside = effect.get_by_role("cell").nth(3)
        expect(inside).to_have_text(re.compile("^(yes|no)$"), timeout=A_WORKER_MAY_TAKE)
        if inside.inner_text() == "yes":
            return
    raise AssertionError("five intervals in a row missed the planted effect")


def act(page: Page, home: str, action: str) -> None:
    page.goto(home)
    if (final := page.get_by_role("link", name=action, exact=True)).count():  # a step that cannot be undone says first what it does
        final.click()
        expect(page.get_by_role("heading", name="What will happen, and cannot be undone")).to_be_visible()
    page.get_by_role("button", name=action, exact=True).click()
    expect(page.get_by_role("alert")).to_have_count(0)


def let_bots_in(page: Page, desk: Site) -> None:
    """Only an administrator can say, before the launch, that simulated people may walk a study itself."""
    log_in(page, "admin", desk)
    page.goto("/admin/surveys/study/")
    page.get_by_role("link", name=re.compile("ectures.with.and.without")).first.click()
    page.get_by_label("Accepts bots").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was changed successfully")).to_be_visible()


def comment_and_ask_for_changes(page: Page, home: str) -> None:
    page.goto(f"{home}protocol/")
    section = page.locator("details.thread").first
    section.locator("summary").click()
    section.get_by_label("Your comment").fill("Say whom participants can call.")
    section.get_by_role("button", name="Comment", exact=True).click()
    page.goto(f"{home}actions/return/")
    page.get_by_label("Reason").fill("See the comment.")
    page.get_by_role("button", name="Ask for changes").click()


def approve(page: Page, home: str) -> None:
    page.goto("/review/")
    page.get_by_role("link", name="Lectures with and without a face").first.click()
    page.goto(f"{home}actions/approve/")
    page.get_by_role("button", name="Approve", exact=True).click()


def test_a_study_from_nothing_to_public_data(new_page: Callable[..., Page], desk: Site, tmp_path: Path) -> None:
    investigator, officer, administrator, reader = (new_page() for _ in range(4))
    log_in(investigator, "investigator", desk)
    log_in(officer, "irb", desk)

    home = build(investigator)
    let_bots_in(administrator, desk)
    act(investigator, home, "Submit for review")
    expect(investigator.get_by_text("In review").first).to_be_visible()
    comment_and_ask_for_changes(officer, home)
    investigator.goto(f"{home}build/about/")
    investigator.get_by_label("Contact").fill("lab@example.org, 030 1234")
    save(investigator)
    act(investigator, home, "Submit for review")
    approve(officer, home)
    act(investigator, home, "Launch")
    expect(investigator.get_by_text("Recruiting", exact=True)).to_be_visible()
    sends_bots_and_finds_what_was_planted(investigator, home)

    slug = home.rstrip("/").rpartition("/")[2]
    desk.manage("send_bots", slug, "--n", str(BOTS), "--decline", "0", "--dropout", "0", "--seed", "7", "--url", desk.url)
    act(investigator, home, "Close the study for good")
    investigator.goto(f"{home}releases/")
    investigator.get_by_label("Authors, for the citation").fill("Lovelace, Ada")
    investigator.get_by_role("button", name="Build the package").click()
    request = investigator.get_by_role("button", name="Ask the IRB officer to approve")
    expect(request).to_be_visible(timeout=A_WORKER_MAY_TAKE)
    request.click()
    officer.goto("/review/")
    officer.get_by_role("link", name=re.compile("simulated data")).click()
    officer.get_by_role("button", name="Approve and publish").click()
    expect(officer.get_by_text("Public since")).to_be_visible()

    reader.goto(f"/data/{slug}/1/")
    with reader.expect_download() as download:
        reader.get_by_role("link", name="Download the data package").click()
    download.value.save_as(tmp_path / "package.zip")
    verified = subprocess.run(
        [sys.executable, "-m", "candor.cli", "verify", tmp_path / "package.zip"], capture_output=True, text=True, check=False
    )
    assert verified.returncode == 0, verified.stdout + verified.stderr
