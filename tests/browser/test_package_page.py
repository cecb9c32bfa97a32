"""index.html of a data package, opened from a disk: it computes, notices every changed byte, and asks nobody for anything."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page, Request, expect

from analysis.packages.package import package_files
from candor.packages.archive import zip_of
from candor.packages.signing import private_key, public_pem
from tests.categories import with_frequency
from tests.package_contents import SECRET, content, files, with_a_changed_byte

DESKTOP, PHONE = 1280, 390


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in files().items():
        (tmp_path / name).write_bytes(text)
    return tmp_path


@pytest.fixture
def opened(browser: Browser, folder: Path) -> Iterator[Page]:
    """The page from the disk; it fails the test where it complains, or asks for more than itself."""
    context = browser.new_context(viewport={"width": DESKTOP, "height": 900})
    page, complaints = context.new_page(), []

    def asked(request: Request) -> None:
        if not request.url.startswith(f"file://{folder}/index.html"):
            complaints.append(request.url)

    page.on("request", asked)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"file://{folder}/index.html")
    yield page
    context.close()
    assert complaints == []


def given(page: Page, chosen: dict[str, bytes]) -> None:
    """Choose these files, and wait for what the page says of them."""
    payloads: list[FilePayload] = [{"name": name, "mimeType": "application/octet-stream", "buffer": text} for name, text in chosen.items()]
    page.get_by_label("The ZIP file, or all files").set_input_files(payloads)
    expect(page.locator("#files")).not_to_contain_text("being read")


def test_it_computes_again_and_passes_the_files_as_they_were_signed(
    opened: Page, assert_accessible: Callable[[Page], None], assert_fits: Callable[[Page], None]
) -> None:
    expect(opened.locator("#numbers")).to_contain_text("numbers that a browser can compute are those that were published")
    expect(opened.locator("#files")).to_have_text("No file has been checked yet.")
    expect(opened.get_by_text("wrong:").first).to_be_visible()
    rows = opened.locator("#estimates tr")
    expect(rows.nth(1).get_by_role("rowheader")).to_have_text("Effect: Slides with the instructor, against Slides only")
    assert opened.locator("#estimates td.wrong").count() == 4
    genuine = f"{len(files())} files have the hashes in SHA256SUMS, and the signature is genuine"
    given(opened, files())
    expect(opened.locator("#files")).to_have_text(f"{genuine}.")
    expect(opened.locator("#source")).to_contain_text("The copies in this page are the same, byte for byte.")
    former = public_pem(private_key("a newer secret")) + public_pem(private_key(SECRET))
    given(opened, {"lecture-videos-1.zip": zip_of(files()), "signing-key.pem": former.encode()})
    expect(opened.locator("#files")).to_have_text(f"{genuine}, by the key in signing-key.pem.")
    given(opened, {**files(), "signing-key.pem": public_pem(private_key("another")).encode()})
    expect(opened.locator("#files")).to_contain_text("SHA256SUMS.sig: the signature does not belong to these files")
    given(opened, {**files(), "notes.txt": b"mine"})
    expect(opened.locator("#files-more")).to_contain_text("Nobody signed these: notes.txt.")
    assert_accessible(opened)
    assert_fits(opened)
    opened.set_viewport_size({"width": PHONE, "height": 800})
    assert_fits(opened)


def test_a_changed_byte_in_any_file_is_noticed(opened: Page) -> None:
    for name in files():
        given(opened, with_a_changed_byte(name))
        expect(opened.locator("#files")).to_contain_text("These are not the files that were signed.")
        given(opened, files())
        expect(opened.locator("#files")).to_contain_text("the signature is genuine")
    given(opened, {"lecture-videos-1.zip": zip_of(with_a_changed_byte("data.csv"))})
    expect(opened.locator("#files")).to_contain_text("data.csv: it was changed")
    given(opened, {name: text for name, text in files().items() if name != "README.md"})
    expect(opened.locator("#files")).to_contain_text("README.md: it is missing")
    given(opened, {"lecture-videos-1.zip": b"PK no archive"})
    expect(opened.locator("#files")).to_have_text("The files could not be checked: this is no ZIP file, or its end is missing.")


def test_numbers_that_do_not_follow_are_named(
    opened: Page, assert_accessible: Callable[[Page], None], assert_fits: Callable[[Page], None]
) -> None:
    data = files()["data.csv"]
    given(opened, {**files(), "data.csv": data.replace(b",1\n", b",0\n", 1)})
    expect(opened.locator("#numbers")).to_contain_text("numbers do not follow from the data.")
    opened.get_by_text("The numbers that do not follow").click()
    expect(opened.locator("#differences li").first).to_contain_text("outcomes.")
    expect(opened.locator("#source")).to_contain_text("The copies in this page differ from them: data.csv.")
    assert_accessible(opened)
    opened.set_viewport_size({"width": PHONE, "height": 800})
    assert_fits(opened)
    given(opened, {**files(), "protocol.json": b"{}"})
    expect(opened.locator("#numbers")).to_contain_text("The numbers could not be computed again: a file is not as it should be")
    twice = files()["results.json"].replace(b'"outcomes":', b'"out\\u0063omes": {}, "outcomes":', 1)
    given(opened, {**files(), "results.json": twice})
    expect(opened.locator("#numbers")).to_contain_text("a file is not as it should be")


def test_named_answers_are_computed_again(
    browser: Browser, tmp_path: Path, assert_accessible: Callable[[Page], None], assert_fits: Callable[[Page], None]
) -> None:
    """Opened from a disk; an answer that was changed in data.csv is noticed."""
    made = content(people=600, questions=[*with_frequency()[-1:], *with_frequency()[:1]], released=("attention", "copying"))
    chosen = package_files(made, private_key(SECRET))
    (tmp_path / "index.html").write_bytes(chosen["index.html"])
    page = browser.new_page(viewport={"width": DESKTOP, "height": 900})
    page.goto(f"file://{tmp_path}/index.html")
    expect(page.locator("#numbers")).to_contain_text("numbers that a browser can compute are those that were published")
    row = page.get_by_role("row", name="Effect: Slides with the instructor, against Slides only: “More often” or above")
    published = json.loads(chosen["results.json"])["categories"]["copying"]["effects"]
    (one,) = [one for one in published if (one["measure"], one["category"]) == ("at_least", "often")]
    assert row.get_by_role("cell").nth(0).inner_text() == row.get_by_role("cell").nth(1).inner_text()
    assert f"{100 * one['value']:z.1f}" in row.get_by_role("cell").nth(0).inner_text().replace("−", "-")
    expect(page.get_by_role("row", name="Effect: Slides with the instructor, against Slides only: mean score")).to_be_visible()
    for width in (DESKTOP, PHONE, 320):
        page.set_viewport_size({"width": width, "height": 900})
        assert_fits(page)
        assert_accessible(page)
    given(page, {**chosen, "data.csv": chosen["data.csv"].replace(b",never", b",often", 1)})
    expect(page.locator("#numbers")).to_contain_text("numbers do not follow from the data.")
    page.get_by_text("The numbers that do not follow").click()
    expect(page.locator("#differences")).to_contain_text("categories.copying.effects.")
    page.close()


def test_a_browser_without_ed25519_says_so(opened: Page) -> None:
    opened.evaluate("() => { crypto.subtle.importKey = () => Promise.reject(new DOMException('', 'NotSupportedError')); }")
    given(opened, files())
    expect(opened.locator("#files")).to_contain_text("This browser cannot check the signature, because it does not know Ed25519")
    given(opened, with_a_changed_byte("data.csv"))
    expect(opened.locator("#files")).to_contain_text("data.csv: it was changed")


def test_a_page_with_a_changed_script_does_not_run(browser: Browser, folder: Path) -> None:
    """Its policy names the scripts by their hashes."""
    page = (folder / "index.html").read_text()
    (folder / "index.html").write_text(page.replace("numbers do not follow", "numbers follow nicely"))
    other = browser.new_page()
    other.goto(f"file://{folder}/index.html")
    expect(other.locator("#files")).to_contain_text("Not checked. The script of this page did not run")
    other.close()


def test_words_of_the_study_cannot_become_elements(browser: Browser, tmp_path: Path) -> None:
    hostile = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>"
    question = {"name": "attention", "text": hostile}
    text = package_files(content(questions=[question, {"name": "comprehension", "text": "And that?"}]), private_key(SECRET))
    (tmp_path / "index.html").write_bytes(text["index.html"])
    other = browser.new_page()
    other.goto(f"file://{tmp_path}/index.html")
    expect(other.locator("#estimates tr").first).to_have_text(hostile)
    assert "taken" not in other.title()
    assert other.locator("img").count() == 0
    other.close()
