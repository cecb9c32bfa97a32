"""Renews the pictures in docs/images: `python docs/take_screenshots.py http://localhost:8000` beside a fresh `make demo`.

Logs in with the password of that demonstration (CANDOR_VAR, else var/), makes a draft, sends a copy into review, rehearses, and at the
end closes the demonstration study and releases its data. Needs Chromium and ffmpeg, which makes each picture small by a palette.
"""

import os
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.installing import chromium  # noqa: E402

IMAGES = ROOT / "docs" / "images"
STUDY = "lecture-videos"
WIDTH, PHONE = 1280, 320


def shoot(page: Page, name: str, *, height: int = 900, text: str = "") -> None:
    """The part of the page worth showing: its top, or the section that begins with a given text."""
    page.set_viewport_size({"width": (page.viewport_size or {"width": WIDTH})["width"], "height": height})
    page.evaluate("scrollTo(0, 0); document.fonts.ready")
    if text:
        page.get_by_text(text).first.evaluate("element => scrollTo(0, element.getBoundingClientRect().top - 56)")
    page.wait_for_timeout(400)
    raw = page.screenshot(animations="disabled")
    palette = "split[a][b];[a]palettegen=max_colors=128:stats_mode=full[p];[b][p]paletteuse=dither=none"
    command = ["ffmpeg", "-v", "error", "-y", "-f", "png_pipe", "-i", "-", "-vf", palette, "-pred", "none", IMAGES / f"{name}.png"]
    subprocess.run(command, input=raw, check=True)  # noqa: S603
    print(f"{name}.png: {(IMAGES / f'{name}.png').stat().st_size // 1000} kB")


def log_in(browser: Browser, site: str, username: str, password: str) -> Page:
    page = browser.new_context(base_url=site, viewport={"width": WIDTH, "height": 900}).new_page()
    page.goto("/accounts/login/")
    page.get_by_label("User name").fill(username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("button", name=f"Log out {username}")).to_be_visible()
    return page


def press(page: Page, slug: str, step: str) -> None:
    """Press the button that takes the study one step further; for good, it stands on a page of its own."""
    page.goto(f"/studies/{slug}/")
    if (final := page.get_by_role("link", name=step, exact=True)).count():
        final.click()
    page.get_by_role("button", name=step).click()
    page.wait_for_load_state()


def build_and_try(owner: Page) -> None:
    owner.goto("/new-study/")
    owner.get_by_label("Title").fill("Group work and honesty")
    owner.get_by_role("button", name="Create the study").click()
    slug = owner.url.split("/")[-3]
    owner.goto(f"/studies/{slug}/build/")
    shoot(owner, "builder", height=1000)
    owner.goto(f"/studies/{slug}/build/die/")
    shoot(owner, "die-designer", height=1100)
    owner.goto(f"/studies/{STUDY}/preview/?step=die")
    owner.get_by_role("button", name="Roll the die").click()
    owner.wait_for_timeout(2000)
    shoot(owner, "die", height=1440)


def rehearse(owner: Page) -> None:
    owner.goto(f"/studies/{STUDY}/rehearsal/")
    for field, value in {"bots": "400", "prevalence": "30", "effect": "30", "cheaters": "10"}.items():
        owner.locator(f"[name={field}]").fill(value)
    owner.get_by_role("button", name="Send the bots").click()
    expect(owner.get_by_text("bots have come, in")).to_be_visible(timeout=300_000)
    expect(owner.get_by_text("The results are still being computed")).to_have_count(0, timeout=300_000)
    shoot(owner, "rehearsal", height=1100)


def review(owner: Page, officer: Page) -> None:
    owner.goto(f"/studies/{STUDY}/duplicate/")
    owner.get_by_role("button", name="Duplicate").click()
    slug = owner.url.split("/")[-3]
    press(owner, slug, "Submit for review")
    officer.goto(f"/studies/{slug}/protocol/")
    shoot(officer, "protocol", height=1000)
    officer.goto(f"/studies/{slug}/review/")
    shoot(officer, "review", height=800)


def on_a_phone(owner: Page) -> None:
    owner.set_viewport_size({"width": PHONE, "height": 640})
    owner.goto(f"/studies/{STUDY}/preview/?step=questions")
    owner.get_by_role("button", name="Roll").first.click()
    owner.wait_for_timeout(2000)
    shoot(owner, "questions-phone", height=720, text="Did your attention wander")
    owner.goto(f"/studies/{STUDY}/results/")
    shoot(owner, "results-phone", height=720, text="Did your attention wander")
    owner.set_viewport_size({"width": WIDTH, "height": 900})


def release(owner: Page, officer: Page) -> None:
    press(owner, STUDY, "Close the study for good")
    owner.goto(f"/studies/{STUDY}/releases/")
    owner.get_by_label("Authors, for the citation").fill("Lovelace, Ada\nHopper, Grace")
    owner.get_by_role("button", name="Build the package").click()
    expect(owner.get_by_role("button", name="Ask the IRB officer to approve")).to_be_visible(timeout=300_000)
    shoot(owner, "release", height=1000)
    owner.get_by_role("button", name="Ask the IRB officer to approve").click()
    officer.goto(owner.url)
    officer.get_by_role("button", name="Approve and publish").click()
    officer.goto(f"/data/{STUDY}/1/")
    shoot(officer, "public-data", height=1000)


def main(site: str) -> None:
    password = (Path(os.environ.get("CANDOR_VAR", ROOT / "var")) / "demo_password").read_text().strip()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"] if os.geteuid() == 0 else [])
        owner, officer, administrator = (log_in(browser, site, name, password) for name in ("investigator", "irb", "admin"))
        owner.goto(f"/studies/{STUDY}/results/")
        shoot(owner, "results", height=1250)
        build_and_try(owner)
        rehearse(owner)
        review(owner, officer)
        owner.goto("/studies/")
        shoot(owner, "studies", height=700)
        on_a_phone(owner)
        release(owner, officer)
        administrator.goto("/log/")
        shoot(administrator, "audit-log", height=900)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8000")
