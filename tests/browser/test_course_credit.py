"""Credit in a browser: blinded by the page's script as the standard says, kept, and handed in where the course knows the student."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from lti.models import Platform
from lti.selectors import STUDENT, sealed_place
from surveys.credit.selectors import Place
from surveys.credit.services import change_credit
from surveys.journey import services as participation
from surveys.models import CourseCredit, CreditBook, Participant, Study
from surveys.tokens import hash_of_token
from tests.browser.conftest import Complaints
from tests.browser.people import JOURNEY, SLUG, become, recruiting_study, token_at_questions
from tests.factories import QUESTIONS

Check = Callable[[Page], None]
COURSE = f"/credit/{SLUG}/"
VECTOR = json.loads((Path(__file__).parents[1] / "unit/surveys/credit/rfc9474.json").read_text())
HOURS = 60 * 60 * 1000


@pytest.fixture
def study(transactional_db: None) -> Study:
    study = recruiting_study()
    change_credit(study, is_on=True, for_everybody=True, actor=study.owner)
    addresses = dict.fromkeys(("issuer", "login_address", "token_address", "keys_address"), "https://moodle.example.org")
    Platform.objects.create(name="Moodle", client_id="candor", deployment_id="1", **addresses)
    return study


def come_from_course(context: BrowserContext, site: str, study: Study, *, sub: str = "ada") -> None:
    """As if the course had just sent this student."""
    place = Place(
        platform=Platform.objects.get().pk, issuer="https://moodle.example.org", sub=sub, line_item="https://moodle.example.org/items/1"
    )
    context.add_cookies([{"name": STUDENT, "value": sealed_place(place, study), "url": f"{site}{COURSE}", "httpOnly": True}])


def finish(context: BrowserContext, site: str, study: Study) -> None:
    """Somebody at the end of the journey."""
    token = token_at_questions(study, subsample="1")
    participant = Participant.objects.get(token_hash=hash_of_token(token))
    participation.record_responses(participant, reported=dict.fromkeys(QUESTIONS, True))
    become(context, site, token)


def get_credit(page: Page) -> Page:
    """The page of the credit, in a window of its own; the last page keeps the withdrawal code."""
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Get my credit").click()
    expect(page.locator("#withdrawal-code")).to_be_visible()
    return opened.value


def test_the_script_follows_the_standard(page: Page, study: Study) -> None:
    page.goto(f"{JOURNEY}about/")
    found = page.evaluate(
        """async (vector) => {
          const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
          const hex = (content) => [...content].map((byte) => byte.toString(16).padStart(2, "0")).join("");
          const { begun } = await import("/static/js/credit_token.js");
          const drawn = { prefix: bytes(vector.msg_prefix), salt: bytes(vector.salt), inverse: BigInt(`0x${vector.inv}`) };
          const asked = await begun(vector.n, bytes(vector.msg), drawn);
          const { signature } = await asked.finish(bytes(vector.blind_sig));
          const wrong = await asked.finish(bytes(vector.sig)).then(() => "taken", () => "refused");
          return { blinded: hex(asked.blinded), signature: hex(signature), wrong };
        }""",
        VECTOR,
    )
    assert found == {"blinded": VECTOR["blinded_msg"], "signature": VECTOR["sig"], "wrong": "refused"}


@pytest.fixture
def cloud(site: str) -> Iterator[int]:
    """The port of a platform with two hosts: logins for all schools, which lead on to the pages of one."""
    asked = urlencode({"iss": "https://moodle.example.org", "client_id": "candor", "login_hint": "hint"})
    course = f'<!doctype html><title>Course</title><h1>Course</h1><iframe src="{site}/lti/login/?{asked}"></iframe>'

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if is_login := self.headers["Host"].startswith("logins."):
                self.send_response(302)
                self.send_header("Location", f"http://school.localhost:{server.server_port}/auth")
            else:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"" if is_login else course.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_a_school_shows_the_activity_and_opens_it_in_a_window(page: Page, study: Study, cloud: int, complaints: Complaints) -> None:
    """In the cloud of Canvas browsers refused the frame; and the form in it, which is led through the login to the school."""
    logins, school = (f"http://{name}.localhost:{cloud}" for name in ("logins", "school"))
    complaints.expected += ["request to elsewhere", "favicon.ico"]
    Platform.objects.update(login_address=f"{logins}/auth", page_addresses="")
    page.goto(f"{school}/courses/1")
    with page.expect_popup() as window:
        page.frame_locator("iframe").get_by_role("link", name="Open the activity").click()
    expect(window.value).to_have_url(f"{school}/auth")
    expect(window.value.get_by_role("heading", name="Course")).to_be_visible()


def test_a_failed_launch_is_read_in_the_course(page: Page, study: Study, cloud: int, complaints: Complaints) -> None:
    complaints.expected += ["request to elsewhere", "favicon.ico", "403"]
    Platform.objects.all().delete()
    page.goto(f"http://school.localhost:{cloud}/courses/1")
    expect(page.frame_locator("iframe").get_by_role("heading", name="Your course could not open this study")).to_be_visible()


def test_from_the_last_page_to_the_course(page: Page, site: str, study: Study, assert_readable: Check) -> None:
    come_from_course(page.context, site, study)
    page.goto(COURSE)
    expect(page.get_by_role("link", name="Go to the study")).to_be_visible()
    assert_readable(page)
    finish(page.context, site, study)
    page.goto(JOURNEY)
    expect(page.get_by_role("heading", name="Credit for taking part")).to_be_visible()
    sent: list[str] = []
    page.context.on("request", lambda request: sent.append(f"{request.url} {request.post_data}"))
    page = get_credit(page)
    page.get_by_role("button", name="Keep my credit in this browser").click()
    expect(page.get_by_role("status")).to_contain_text("Your credit is in this browser.")
    assert_readable(page)
    kept = page.evaluate(f"JSON.parse(localStorage.getItem('candor-credit {SLUG}'))")
    now = page.evaluate("Date.now()")
    assert now + 0.9 * HOURS < kept["after"] < now + 8 * HOURS
    number, signature = kept["token"].split(".")
    assert not [one for one in sent if number in one or signature in one], "the server sees neither"

    page.goto(COURSE)
    expect(page.get_by_role("button", name="Hand it in now")).to_be_visible()
    assert_readable(page)
    assert not CreditBook.objects.exists(), "it waits"
    page.evaluate(f"localStorage.setItem('candor-credit {SLUG}', JSON.stringify({{...{json.dumps(kept)}, after: 0}}))")
    page.goto(COURSE)
    expect(page.get_by_text("Your credit is handed in.")).to_be_visible()
    assert [place["sub"] for place in CreditBook.objects.get().waiting] == ["ada"]
    page.wait_for_load_state()  # the page's script forgets the credit
    assert page.evaluate("localStorage.length") == 0, "nothing is left in the browser"
    assert_readable(page)


def test_a_key_of_ones_own_is_noticed_on_both_pages(page: Page, site: str, study: Study) -> None:
    """A server that signs with another key for each person would know the credit again."""
    come_from_course(page.context, site, study)
    page.goto(COURSE)
    finish(page.context, site, study)
    CourseCredit.objects.update(modulus=VECTOR["n"][:511] + "1")
    page.goto(JOURNEY)
    page = get_credit(page)
    page.get_by_role("button", name="Keep my credit in this browser").click()
    expect(page.get_by_role("status")).to_contain_text("not the one that your course showed")
    page.evaluate(f"localStorage.setItem('candor-credit {SLUG}', JSON.stringify({{modulus: 'abc', token: 'x.y', after: 0}}))")
    page.goto(COURSE)
    expect(page.get_by_role("alert")).to_contain_text("signed with another key")
    assert not CreditBook.objects.exists()


def test_the_credit_of_the_student_before_is_left_alone(page: Page, site: str, study: Study) -> None:
    come_from_course(page.context, site, study, sub="ada")
    page.goto(COURSE)
    kept = page.evaluate(f"JSON.parse(localStorage.getItem('candor-credit {SLUG}'))")
    page.evaluate(f"localStorage.setItem('candor-credit {SLUG}', JSON.stringify({{...{json.dumps(kept)}, token: 'x.y', after: 0}}))")
    come_from_course(page.context, site, study, sub="bob")
    page.goto(COURSE)
    expect(page.get_by_role("alert")).to_contain_text("that of somebody else")
    assert not CreditBook.objects.exists()


def test_without_a_script_there_is_a_code(new_page: Callable[..., Page], site: str, study: Study, complaints: Complaints) -> None:
    page = new_page(java_script_enabled=False)
    come_from_course(page.context, site, study)
    finish(page.context, site, study)
    page.goto(JOURNEY)
    page = get_credit(page)
    expect(page.get_by_role("button", name="Keep my credit in this browser")).to_be_hidden()
    page.get_by_role("button", name="Take a code").click()
    code = page.locator("#credit-code").inner_text()
    page.goto(COURSE)
    page.get_by_label("Completion code").fill(code)
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_text("Your credit is handed in.")).to_be_visible()
