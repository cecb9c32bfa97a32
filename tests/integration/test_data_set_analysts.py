"""Analysts of a data set are invited, accept, are approved, and read neither its ledger nor its entries in the log."""

from datetime import timedelta

import pytest
from django.http import Http404
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role, User
from analysis.models import DataSet, DataSetAnalyst, DataSetInvitation, DataSetStatus
from analysis.sources.seats import DataSetSeat, access_data_set, access_to_leave, data_sets_as_analyst, data_sets_of, deleted_soon
from surveys.access import StudyRole
from tests.data_sets import approved, data_set, named
from tests.factories import everything_stored, logged_in, page_of, person

pytestmark = pytest.mark.django_db
PASSWORD = "seven horses on the moon"


def page(made: DataSet) -> str:
    return reverse("analysis:data_set", args=[made.slug])


def link(made: DataSet, addressee: str) -> str:
    """The path of the link that the owner is shown after inviting."""
    shown = logged_in(made.owner).post(page(made), {"action": "invite", "addressee": addressee})
    assert shown.status_code == 200
    return str(page_of(shown).xpath('string(//*[@id="link"])')).strip().removeprefix("http://testserver")


def test_somebody_without_an_account_is_invited_makes_one_and_waits_for_an_officer() -> None:
    officer = person(Role.IRB_OFFICER)
    made = approved(officer=officer).data_set
    assert made is not None
    address = link(made, "eve@example.org")
    assert address.split("/")[2] not in repr(everything_stored())
    assert "eve@example.org" in logged_in(made.owner).get(page(made)).content.decode()
    assert "eve@example.org" not in logged_in(officer).get(page(made)).content.decode()
    browser = Client()
    assert made.title in browser.get(address).content.decode()
    made_account = browser.post(f"{address}account/", {"username": "eve", "password1": PASSWORD, "password2": PASSWORD})
    assert made_account["Location"] == address
    assert browser.post(address)["Location"] == reverse("analysis:data_sets")
    eve = User.objects.get(username="eve")
    assert (eve.role, eve.email) == (Role.ANALYST, "eve@example.org")
    assert browser.get(page(made)).status_code == 404, "an officer has not approved her yet"
    assert logged_in(officer).post(page(made), {"action": "approve-analysts", "analyst": eve.pk}).status_code == 302
    assert browser.get(page(made)).status_code == 200
    assert browser.get(address).status_code == browser.post(address).status_code == 404, "used"


@pytest.mark.parametrize(("role", "reads"), [(Role.ANALYST, True), (Role.IRB_OFFICER, False), (Role.INVESTIGATOR, False)])
def test_an_analyst_without_a_data_set_reads_where_invitations_come_from(role: Role, reads: bool) -> None:
    page = logged_in(person(role)).get(reverse("analysis:data_sets")).content.decode()
    assert "No data sets yet" in page
    assert ("invites you with a link" in page, "wait for an IRB officer" in page) == (reads, role == Role.IRB_OFFICER)


@pytest.mark.parametrize("end", ["withdrawn", "out of date", "mistyped", "for somebody else"])
def test_a_link_that_does_not_hold_makes_nobody_an_analyst(end: str) -> None:
    made, guest = data_set(), logged_in(person(Role.ANALYST))
    address = link(made, person(Role.ANALYST).username if end == "for somebody else" else "eve@example.org")
    invitation = DataSetInvitation.objects.get()
    if end == "withdrawn":
        assert logged_in(made.owner).post(page(made), {"action": "withdraw", "invitation": invitation.pk}).status_code == 302
    elif end == "out of date":
        DataSetInvitation.objects.update(last_day=invitation.last_day - timedelta(days=15))
    elif end == "mistyped":
        address = f"{address[:-2]}/"
    assert guest.post(address).status_code == (409 if end == "for somebody else" else 404)
    assert not DataSetAnalyst.objects.exists()


def test_only_an_address_or_an_account_without_a_part_is_invited_and_only_by_the_owner() -> None:
    made, analyst = data_set(), person(Role.ANALYST)
    owner = logged_in(made.owner)
    named(made, analyst)
    for addressee, said in (
        ("", "Write an e-mail address, or the name of an account."),
        ("nobody at all", "Expected an e-mail address or the name of an account"),
        (analyst.username, f"{analyst.username} has a part in this data set already."),
        (made.owner.username, f"{made.owner.username} has a part in this data set already."),
    ):
        refused = owner.post(page(made), {"action": "invite", "addressee": addressee})
        (problem,) = page_of(refused).xpath("//*[@id='addressee-error']/text()")
        assert (refused.status_code, said in problem) == (422, True)
        assert page_of(refused).xpath("//input[@id='addressee'][@aria-invalid='true']/@value") == [addressee]
    for stranger in (person(Role.INVESTIGATOR), person(Role.IRB_OFFICER), analyst):
        assert logged_in(stranger).post(page(made), {"action": "invite", "addressee": "eve@example.org"}).status_code == 404


def test_naming_an_officer_takes_nothing_from_them_before_they_accept() -> None:
    """An owner who could make every officer an analyst would be free of all of them."""
    officer = person(Role.IRB_OFFICER)
    source = approved(officer=officer)
    assert source.data_set is not None
    link(source.data_set, officer.username)
    frozen = logged_in(officer).post(
        reverse("analysis:data_set_ledger", args=[source.data_set.slug]), {"action": "freeze", "reason": "A complaint."}
    )
    assert frozen.status_code == 302


def test_an_officer_who_is_an_analyst_reads_no_entry_about_the_data_set() -> None:
    both, other = person(Role.IRB_OFFICER), person(Role.IRB_OFFICER)
    source, elsewhere = approved(officer=other, analysts=(both,)), approved(officer=both, title="Another course")
    secret, open_one = source.whole.slug, elsewhere.whole.slug
    analyst, reader = logged_in(both), logged_in(other)
    about = {one: f"/data-sets/{one}/" for one in (secret, open_one)}
    assert analyst.get(about[secret]).status_code == 200

    def entries(browser: Client) -> set[str]:
        lines = b"".join(browser.get(reverse("surveys:export_log")).streaming_content).decode()
        read = browser.get(reverse("surveys:api_log"), {"kind": "data_set."}).json()["entries"]
        assert {one["subject_id"] for one in read} == {key for key in keys if f'"subject_id":"{key}"' in lines.replace(" ", "")}
        return {one["subject_id"] for one in read}

    keys = {str(source.whole.pk), str(elsewhere.whole.pk)}
    assert entries(reader) == keys
    assert entries(analyst) == {str(elsewhere.whole.pk)}
    told = analyst.get(reverse("surveys:log")).content.decode()
    assert f"You are a blinded viewer or an analyst of {secret}" in told


def test_an_officer_who_waits_to_be_an_analyst_reads_neither_ledger_nor_log_and_hears_no_answer() -> None:
    """They accepted: from then on they have a part in it, whether another officer has approved them or not."""
    waiting, other = person(Role.IRB_OFFICER), person(Role.IRB_OFFICER)
    source = approved(officer=other)
    made = source.data_set
    assert made is not None
    ledger = reverse("analysis:data_set_ledger", args=[made.slug])
    program = reverse("analysis:api_data_set_ledger", args=[made.slug])
    browser = logged_in(waiting)
    assert [browser.get(address).status_code for address in (ledger, program)] == [200, 200]
    named(made, waiting)
    assert [browser.get(address).status_code for address in (ledger, program)] == [404, 404]
    assert f'href="{ledger}"' not in browser.get(page(made)).content.decode()
    assert browser.get(reverse("surveys:api_log"), {"kind": "data_set."}).json()["entries"] == []
    assert browser.post(ledger, {"action": "freeze", "reason": "A complaint."}).status_code == 404
    assert logged_in(other).get(ledger).status_code == 200


@pytest.mark.parametrize("by_program", [False, True])
def test_an_analyst_who_waits_for_an_officer_sees_that_and_may_leave(by_program: bool) -> None:
    """They see no page of the data set yet."""
    made, newcomer, listed = data_set(), person(Role.ANALYST), reverse("analysis:data_sets")
    browser = logged_in(newcomer)
    assert browser.post(page(made), {"action": "leave"}).status_code == 404
    named(made, newcomer)
    shown = page_of(browser.get(listed))
    assert made.title in shown.text_content()
    assert "You may ask questions when an IRB officer has approved you." in shown.text_content()
    assert (shown.xpath(f'//a[@href="{page(made)}"]'), browser.get(page(made)).status_code) == ([], 404)
    for action in ("submit", "describe", "delete", "approve", "invite"):
        assert browser.post(page(made), {"action": action, "sure": "yes", "about": "Mine."}).status_code == 404
    if by_program:
        left = browser.delete(reverse("analysis:api_data_set_person", args=[made.slug, newcomer.username]))
    else:
        left = browser.post(*shown.xpath('//form[.//button[@value="leave"]]/@action'), {"action": "leave"})
    assert left.status_code == (204 if by_program else 302)
    assert not DataSetAnalyst.objects.exists()
    assert made.title not in browser.get(listed).content.decode()
    assert browser.delete(reverse("analysis:api_data_set_person", args=[made.slug, newcomer.username])).status_code == 404


@pytest.mark.parametrize("by_program", [False, True])
def test_an_officer_who_waits_to_be_an_analyst_may_leave_and_is_an_officer_again(by_program: bool) -> None:
    """They lost the ledger by a word of theirs, and nobody need approve them before they take it back."""
    officer = person(Role.IRB_OFFICER)
    source = approved()
    made = source.data_set
    assert made is not None
    named(made, officer)
    browser = logged_in(officer)
    shown = page_of(browser.get(page(made)))
    assert "You may ask once another officer has approved you." in shown.text_content()
    assert shown.xpath('//button[@name="action"]/@value') == ["leave"]
    if by_program:
        left = browser.delete(reverse("analysis:api_data_set_person", args=[made.slug, officer.username]))
    else:
        left = browser.post(page(made), {"action": "leave"})
    assert left.status_code == (204 if by_program else 302)
    assert browser.get(reverse("analysis:data_set_ledger", args=[made.slug])).status_code == 200
    assert page_of(browser.get(page(made))).xpath('//button[@value="leave"]') == []
    assert logged_in(made.owner).post(page(made), {"action": "leave"}).status_code == 404, "its owner is no analyst"


@pytest.mark.parametrize("role", [Role.ANALYST, Role.IRB_OFFICER])
def test_an_analyst_of_one_data_set_is_nobody_to_another(role: Role) -> None:
    today, user = timezone.localdate(), person(role)
    approval = {"status": DataSetStatus.APPROVED, "epsilon": 1.0, "delta": 1e-6, "decided_on": today, "delete_on": today}
    own, other = (
        DataSet.objects.create(slug=slug, title=slug, owner=person(Role.INVESTIGATOR), decided_by=person(Role.IRB_OFFICER), **approval)
        for slug in ("own", "other")
    )
    for one, analyst in ((own, user), (other, person(Role.ANALYST))):
        DataSetAnalyst.objects.create(data_set=one, user=analyst, approved_on=today)
    assert [DataSetSeat(user, one).role for one in (own, other)] == [StudyRole.ANALYST, None]
    assert [DataSetSeat(user, one).is_named for one in (own, other)] == [True, False]
    assert [list(found(user)) for found in (data_sets_of, data_sets_as_analyst, deleted_soon)] == [[own], [own], []]
    for access in (access_data_set, access_to_leave):
        assert access(user, own.slug).data_set == own
        with pytest.raises(Http404):
            access(user, other.slug)
