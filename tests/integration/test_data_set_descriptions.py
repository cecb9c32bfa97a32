"""An owner answers an officer's question about a description, and nobody decides about one that they have not read."""

import io
import zipfile
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.formats import date_format

from accounts.models import Role, User
from accounts.services import change_role
from analysis.data_sets import services
from analysis.data_sets.errors import DataSetError
from analysis.data_sets.retention import usual_day
from analysis.models import DataSet, DataSetAnalyst, DataSetStatus, RecordPackage
from analysis.record_sets import packaging
from analysis.record_sets.package import record_set_package
from analysis.sources.selectors import schema_of_records
from audit.models import Entry
from surveys.questions.plans import PrivacyBudget
from tests.api_requests import get, post, problem
from tests.data_sets import BUDGET, approved, data_set
from tests.factories import logged_in, page_of, person
from tests.jobs import work_off, work_on
from tests.record_sets import CHOICES, page, record_set, requested, step, words

pytestmark = pytest.mark.django_db
AGREED = "From the registrar of 2025.\r\nEach student signed a form; it stands in the appendix."
LOOK_AGAIN = "The description was changed meanwhile. Look at it again."
READ = {"epsilon": BUDGET.epsilon, "delta": BUDGET.delta, "delete_on": f"{usual_day()}"}


def act(user: User, path: str, data: Any = MappingProxyType({})) -> Any:
    """Send it by a program."""
    return post(logged_in(user), path, dict(data))


def asked(made: DataSet) -> None:
    services.submit(made, budget=BUDGET, delete_on=usual_day(), actor=made.owner)


def hidden(reader: Client, address: str, action: str) -> dict[str, Any]:
    """The fields of the form that this button sends, with the ends of lines that a browser gives them."""
    (found,) = page_of(reader.get(address)).xpath(f"//form[.//button[@value='{action}']]")
    fields = {field.get("name"): field.get("value") for field in found.xpath(".//input[@type='hidden']")}
    return {**{name: "\r\n".join((value or "").splitlines()) for name, value in fields.items()}, "action": action}


def about(made: DataSet) -> str:
    return DataSet.objects.get(pk=made.pk).about


def state(made: DataSet) -> str:
    return DataSet.objects.get(pk=made.pk).status


def test_an_owner_answers_the_question_and_the_log_has_the_new_words() -> None:
    made, officer = data_set(), person(Role.IRB_OFFICER)
    mine, here = logged_in(made.owner), reverse("analysis:data_set", args=[made.slug])
    asked(made)
    assert "Change the description" not in words(mine.get(here)), "it waits"
    assert mine.post(here, {"action": "describe", "about": AGREED}).status_code == 422
    services.send_back(made, reason="Who agreed to what?", actor=officer)
    assert "Change the description" not in words(logged_in(officer).get(here))
    assert logged_in(officer).post(here, {"action": "describe", "about": AGREED}).status_code == 404
    assert mine.post(here, {"action": "describe", "about": f" {AGREED} "}).status_code == 302
    assert about(made) == AGREED
    entry = Entry.objects.filter(action="data_set.described").get()
    assert (entry.details, entry.actor_name) == ({"about": AGREED}, made.owner.username)
    asked(made)
    reader = logged_in(officer)
    assert "it stands in the appendix" in words(reader.get(here))
    assert reader.post(here, hidden(reader, here, "approve")).status_code == 302
    assert state(made) == DataSetStatus.APPROVED
    assert mine.post(here, {"action": "describe", "about": "Other words."}).status_code == 422
    assert about(made) == AGREED


@pytest.mark.parametrize("typed", ["", " \r\n ", "x" * 5001])
def test_a_description_that_cannot_be_is_refused_and_stays_in_the_form(typed: str) -> None:
    made = data_set()
    here = reverse("analysis:data_set", args=[made.slug])
    refused = logged_in(made.owner).post(here, {"action": "describe", "about": typed})
    (field,) = page_of(refused).xpath("//details[@open]//textarea[@name='about' and @aria-invalid='true']")
    assert (refused.status_code, field.text.strip(), about(made)) == (422, typed.strip(), "From elsewhere.")
    problem(act(made.owner, f"data-sets/{made.slug}/actions/describe/", {"about": typed}), 400)
    assert not Entry.objects.filter(action="data_set.described").exists()


def test_the_same_words_change_nothing() -> None:
    made = data_set()
    DataSet.objects.update(about="One.\nTwo.")
    for sent in ("One.\r\nTwo.", "One.\nTwo."):
        assert act(made.owner, f"data-sets/{made.slug}/actions/describe/", {"about": sent}).status_code == 200
    assert about(made) == "One.\nTwo."
    assert not Entry.objects.filter(action="data_set.described").exists()


@pytest.mark.parametrize("action", ["approve", "send-back"])
def test_nobody_decides_about_a_description_that_they_have_not_read(action: str) -> None:
    """It waits again with the budget and the day of before, and with other words."""
    made, officer = data_set(), person(Role.IRB_OFFICER)
    reader, here, programs = logged_in(officer), reverse("analysis:data_set", args=[made.slug]), f"data-sets/{made.slug}/actions/"
    asked(made)
    stale, read = hidden(reader, here, action), get(officer, f"data-sets/{made.slug}/")["about"]
    assert logged_in(made.owner).post(here, {"action": "take-back"}).status_code == 302
    assert act(made.owner, f"{programs}describe/", {"about": AGREED}).status_code == 200
    asked(made)
    refused = reader.post(here, {**stale, "reason": "No."})
    assert (refused.status_code, LOOK_AGAIN in words(refused), state(made)) == (422, True, DataSetStatus.WAITING)
    problem(act(officer, f"{programs}{action}/", {"reason": "No.", **READ, "about": read}), 409)
    unread = problem(act(officer, f"{programs}{action}/", {"reason": "No.", **READ}), 400)
    assert ("about" in str(unread), state(made)) == (True, DataSetStatus.WAITING)
    again = get(officer, f"data-sets/{made.slug}/")["about"]
    assert act(officer, f"{programs}{action}/", {"reason": "No.", **READ, "about": again.replace("\r\n", "\n")}).status_code == 200


def test_an_owner_takes_the_request_back_until_somebody_decides() -> None:
    made, officer = data_set(), person(Role.IRB_OFFICER)
    programs, here = f"data-sets/{made.slug}/actions/take-back/", reverse("analysis:data_set", args=[made.slug])
    problem(act(made.owner, programs), 409)
    asked(made)
    assert "Take the request back" in words(logged_in(made.owner).get(here))
    assert "Take the request back" not in words(logged_in(officer).get(here))
    problem(act(officer, programs), 404)
    assert act(made.owner, programs).json()["status"] == "draft"
    decided = approved(title="Another").whole
    problem(act(decided.owner, f"data-sets/{decided.slug}/actions/take-back/"), 409)
    assert state(decided) == DataSetStatus.APPROVED


def test_an_administrator_who_wrote_the_description_and_becomes_an_officer_does_not_decide_about_it() -> None:
    made, author = data_set(), person(Role.ADMINISTRATOR)
    services.describe(made, about=AGREED, actor=author)
    asked(made)
    author = change_role(user=author, role=Role.IRB_OFFICER)
    with pytest.raises(DataSetError, match="you have a part in this data set"):
        services.approve(made, budget=(BUDGET.epsilon, BUDGET.delta), delete_on=f"{usual_day()}", analysts=(), about=AGREED, actor=author)


def texts_of(package: RecordPackage) -> str:
    with zipfile.ZipFile(io.BytesIO(bytes(package.package or b""))) as files:
        return "".join(files.read(name).decode() for name in files.namelist() if name.endswith(("README.md", "protocol.json")))


def test_a_package_of_records_is_built_again_with_the_new_words_and_the_old_choices() -> None:
    made, officer = record_set(), person(Role.IRB_OFFICER)
    mine, first = logged_in(made.owner), requested(made, licence="CC0-1.0", k="4")
    stale = {"sha256": first.package_sha256, "delete_on": f"{usual_day()}"}
    step(logged_in(officer), made, "send-back", reason="Who agreed to what?", sha256=first.package_sha256)
    shown = words(mine.get(page(made)))
    assert "built again with the same choices" in shown
    assert "The IRB officer decides by it, and it is published with the records." in shown
    assert step(mine, made, "describe", about=AGREED).status_code == 302
    again = RecordPackage.objects.get(data_set=made)
    assert (again.status, again.package, again.package_sha256) == ("building", None, "")
    work_off(again)
    again.refresh_from_db()
    assert (again.status, again.licence, again.authors, again.protection) == ("built", first.licence, first.authors, first.protection)
    assert ("it stands in the appendix" in texts_of(again), "the students agreed" in texts_of(again)) == (True, False)
    assert step(mine, made, "request", **stale).status_code == 422, "its owner has not looked at the new one"
    assert step(mine, made, "request", sha256=again.package_sha256, delete_on=f"{usual_day()}").status_code == 302
    refused = step(logged_in(officer), made, "approve", **stale)
    assert (refused.status_code, state(made)) == (422, DataSetStatus.WAITING)
    problem(act(made.owner, f"data-sets/{made.slug}/records/actions/describe/", {"about": "Other words."}), 409)
    assert about(made) == AGREED


def test_a_worker_who_builds_with_the_old_words_finishes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    made = record_set()
    step(logged_in(made.owner), made, "build", **CHOICES)
    old = RecordPackage.objects.get(data_set=made)

    def described_meanwhile(*content: Any) -> bytes:
        written = record_set_package(*content)
        assert act(made.owner, f"data-sets/{made.slug}/records/actions/describe/", {"about": AGREED}).status_code == 200
        return written

    with monkeypatch.context() as patch:
        patch.setattr(packaging, "record_set_package", described_meanwhile)
        work_on(old)
    assert not RecordPackage.objects.filter(pk=old.pk).exists()
    (new,) = RecordPackage.objects.filter(data_set=made)
    work_off(new)
    new.refresh_from_db()
    assert "it stands in the appendix" in texts_of(new)


def test_what_an_officer_confirmed_stays_confirmed_in_the_package_that_is_built_again() -> None:
    made, officer = record_set(), person(Role.IRB_OFFICER)
    mine = logged_in(made.owner)
    roles: dict[str, Any] = {"attribute": list(schema_of_records(made).roles)}
    step(mine, made, "roles", **roles, role=["quasi_identifier", "auxiliary", "auxiliary", "sensitive"])
    waits = requested(made, asked=["sex"])
    assert step(logged_in(officer), made, "confirm", attributes=["sex"], sha256=waits.package_sha256).status_code == 302
    confirmed = RecordPackage.objects.get(data_set=made)
    assert confirmed.protection["auxiliary"] == ["sex"]
    assert step(mine, made, "describe", about=AGREED).status_code == 302
    again = RecordPackage.objects.get(data_set=made)
    assert (again.protection, again.pk != confirmed.pk) == (confirmed.protection, True)


def test_a_new_description_is_shown_as_words_and_never_as_code() -> None:
    made = data_set()
    asked(made)
    services.send_back(made, reason="Why?", actor=person(Role.IRB_OFFICER))
    services.describe(made, about='"><script>alert(1)</script>', actor=made.owner)
    asked(made)
    for reader in (made.owner, person(Role.IRB_OFFICER)):
        assert b"<script>alert" not in logged_in(reader).get(reverse("analysis:data_set", args=[made.slug])).content


def test_an_officer_reads_what_is_another_since_it_was_sent_back() -> None:
    made, officer = data_set(), person(Role.IRB_OFFICER)
    here, reader = reverse("analysis:data_set", args=[made.slug]), logged_in(person(Role.IRB_OFFICER))
    asked(made)
    services.send_back(made, reason="From where, and who agreed?", actor=officer)
    inbox = logged_in(made.owner).get(reverse("analysis:inbox"))
    assert f"Your data sets that an officer sent back {made.title} : From where, and who agreed?" in words(inbox)
    services.describe(made, about="From elsewhere: a registrar.", actor=made.owner)
    sooner = usual_day() - timedelta(days=30)
    services.submit(made, budget=PrivacyBudget(epsilon=0.5, delta=BUDGET.delta), delete_on=sooner, actor=made.owner)
    assert "From where, and who agreed?" not in words(logged_in(made.owner).get(reverse("analysis:inbox")))
    shown = page_of(reader.get(here))
    (went, came) = (shown.xpath(f"//p[@class='change-text']/{mark}/text()") for mark in ("del", "ins"))
    assert ([one.strip() for one in went], [one.strip() for one in came]) == (["elsewhere."], ["elsewhere: a registrar."])
    text = " ".join(shown.text_content().split())
    assert f"{officer.username} sent it back on" in text
    assert "From where, and who agreed?" in text
    assert "The budget that was asked for then was ε = 1, δ = 1/1,000,000." in text
    assert f"The rows were to be deleted on {date_format(usual_day())} then." in text
    told = get(officer, f"data-sets/{made.slug}/")["sent_back"]
    assert (told["by"], told["reason"], told["about"]) == (officer.username, "From where, and who agreed?", "From elsewhere.")
    assert (told["epsilon"], told["delta"], told["delete_on"]) == (1.0, 1e-6, f"{usual_day()}")
    services.approve(made, budget=(0.5, BUDGET.delta), delete_on=f"{sooner}", analysts=(), actor=officer)
    assert "sent it back" not in words(reader.get(here))
    assert get(officer, f"data-sets/{made.slug}/")["sent_back"] is None


def test_records_that_wait_again_as_they_were_say_so() -> None:
    made, officer = record_set(), person(Role.IRB_OFFICER)
    package = requested(made)
    step(logged_in(officer), made, "send-back", reason="Who agreed to what?", sha256=package.package_sha256)
    step(logged_in(made.owner), made, "request", sha256=package.package_sha256, delete_on=f"{usual_day()}")
    shown = words(logged_in(officer).get(page(made)))
    assert "Who agreed to what?" in shown
    assert "Description, budget and day are as they were then." in shown


def test_an_officer_who_is_named_as_an_analyst_reads_nothing_of_the_log_about_it() -> None:
    made, officer = data_set(), person(Role.IRB_OFFICER)
    asked(made)
    services.send_back(made, reason="Why?", actor=officer)
    services.describe(made, about="Other words.", actor=made.owner)
    DataSetAnalyst.objects.create(data_set=made, user=officer)
    asked(made)
    assert not page_of(logged_in(officer).get(reverse("analysis:data_set", args=[made.slug]))).xpath("//p[@class='change-text']")
    assert get(officer, f"data-sets/{made.slug}/")["sent_back"] is None
