"""Pages of staff that are there in German are German as a whole; the others stay English."""

import json
import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import ApiToken, Language, Role, TokenScope, User
from accounts.services import choose_language, issue_token
from analysis.data_sets.retention import usual_day
from analysis.data_sets.services import invite_analyst, send_back, submit
from analysis.ledger.services import ask
from analysis.models import Asking, RecordPackage, RecordSweep
from analysis.packages.licences import LICENCES
from analysis.records.page import attributes_of
from analysis.records.services import schema_of, try_data_set
from analysis.releases import services
from analysis.releases.protecting import hierarchies_of
from analysis.releases.selectors import preview
from audit import actions
from audit.models import Entry
from audit.services import record, verify_and_record
from surveys.models import PacketSection
from surveys.privacy.services import set_limit
from surveys.review import services as reviews
from surveys.studies import services as studies
from tests.data_sets import BUDGET, TEXTS, approved, data_set
from tests.factories import PASSWORD, draft_study, logged_in, page_of, person, recruiting_study
from tests.integration.test_builder import definition_of
from tests.integration.test_network_questions import source_of_circles
from tests.integration.test_question_desk import documents, typed
from tests.jobs import work_off, work_on
from tests.ledgers import open_source
from tests.record_sets import page as record_page
from tests.record_sets import published, record_set, requested
from tests.releases import closed_study, requested_release
from tests.stimuli import OF_A_KIND, PAGES, arms_with

pytestmark = pytest.mark.django_db
Act = Callable[[Client], HttpResponse]
WORDS = re.compile(r"[A-Za-zÄÖÜäöüß]{3,}")


def sentences(page: Any) -> set[str]:
    """All texts of two words or more, and the names of what has no text; without code, typed words and quotations from English files."""
    own = "[not(self::script or self::code or self::textarea or ancestor-or-self::*[@lang='en'][not(self::html)])]"
    texts = page.xpath(f"//body//*{own}/text()[normalize-space()] | //@aria-label | //title/text()")
    return {" ".join(text.split()) for text in texts if len(WORDS.findall(text)) > 1}


def numbers(page: HttpResponse) -> set[str]:
    """The numbers in the inputs for them."""
    return set(page_of(page).xpath("//input[@inputmode='decimal']/@value"))


def german(user: User) -> Client:
    choose_language(user=user, language=Language.GERMAN)
    return logged_in(user)


def opened(browser: Client, address: str | Act) -> Any:
    return page_of(browser.get(address) if isinstance(address, str) else address(browser))


def must_be_german(owner: User, pages: Sequence[str | Act], content: str) -> None:
    """No sentence of these pages, or of what follows an act on one, is the same in both languages, but for `content`: words of a study or
    a data set, and names.
    """
    content += " ".join(user.username for user in User.objects.all())
    choose_language(user=owner, language=Language.ENGLISH)
    english = {address: sentences(opened(logged_in(owner), address)) for address in pages}
    browser, left = german(owner), dict[str, str | Act]()
    for address in pages:
        page = opened(browser, address)
        assert page.get("lang") == "de", address
        for text in sentences(page) & english[address]:
            parts = [part for part in re.split(r"[“”„:/]| – | · ", text) if len(WORDS.findall(part)) > 1]
            if any(part.strip() not in content for part in parts):
                left[text] = address
    assert left == {}


def without_sentences(summary: dict[str, Any]) -> dict[str, Any]:
    """Pages say in German what a package says in English, so it is no content that is the same in both."""
    return {name: one for name, one in summary.items() if name not in ("privacy_sentences", "promises", "description", "abstract")}


def test_pages_in_german_are_german_as_a_whole() -> None:
    source, officer = open_source(epsilon=5.0), person(Role.IRB_OFFICER)
    owner = source.whole.owner
    for kind, document in documents(source).items():
        ask(source, {"kind": "statistic", "question": {"kind": kind, "epsilon": 0.05, **document}}, actor=owner)
    ask(source, {"kind": "difficulties", "mechanism": "pure_totals_and_scores", "epsilon": 0.05, "reason": "A test."}, actor=owner)
    diaries, marks = approved(owner, brought=TEXTS, title="Diaries"), approved(owner, officer=officer)
    draft = data_set(owner, title="Draft")
    ask(diaries, {"kind": "topics", "epsilon": 0.5}, actor=owner)
    ask(marks, {"kind": "statistic", "question": {"kind": "most_common", "column": "background.major", "epsilon": 0.1}}, actor=owner)
    for asking in Asking.objects.all():
        work_on(asking)
    _invitation, token = invite_analyst(draft, addressee="eve@example.org", actor=owner)
    pages = [reverse(f"analysis:analytics{page}", args=[source.whole.slug]) for page in ("", "_difficulties", "_questions", "_ledger")]
    pages += [f"{pages[2]}?kind={kind}&show=1&exact=epsilon&epsilon=x" for kind in documents(source)]
    pages += [f"{pages[2]}?{urlencode(typed(source), doseq=True)}"]
    sets = (diaries.whole.slug, marks.whole.slug, draft.slug)
    pages += [reverse(f"analysis:{page}", args=[one]) for one in sets for page in ("data_set", "data_set_questions", "data_set_ledger")]
    pages += [reverse("analysis:data_set_topics", args=[sets[0]]), reverse("analysis:data_set_difficulties", args=[sets[1]])]
    pages += [reverse(name) for name in ("surveys:studies", "analysis:data_sets", "analysis:bring_data", "analysis:inbox", "account")]
    pages += [reverse("analysis:data_set_invitation", args=[token])]
    budgets = [reverse("analysis:build_budget", args=[one.slug]) for one in (source.whole, draft_study(owner=owner, slug="a-draft"))]
    pages += [*budgets, f"{budgets[1]}?wanted=on"]
    content = (
        json.dumps(source.whole.definition, ensure_ascii=False)
        + " Diaries Marks of a course From elsewhere. Draft A test. difficulties.json "
    )
    must_be_german(officer, [reverse("analysis:decisions"), f"{reverse('analysis:decisions')}?first=2000-01-01&last=2000-06-30"], content)
    must_be_german(owner, pages, content + "recursion, base case exam, test law, art eve@example.org ")


def test_pages_of_records_that_somebody_brings_are_german_as_a_whole() -> None:
    draft, officer = record_set(), person(Role.IRB_OFFICER)
    sweep = try_data_set(draft, actor=draft.owner)
    RecordSweep.objects.update(plan=[{"size": 2, "level": 0}, {"size": 3, "level": 2}])
    sweep.refresh_from_db()
    work_off(sweep)
    requested(draft, **{"l-course.grade": "2"})
    send_back(draft, reason="Ask the students.", actor=officer)
    public = record_set(draft.owner, title="More of them")
    published(public, officer)
    waiting = record_set(draft.owner, title="Others")
    requested(waiting)
    content = "Transcripts From the registrar; the students agreed. Ask the students. Lovelace, Ada More of them Others "
    content += "CS101 CS201 MA101 not answered "
    content += "f m not answered [1990,1993] [1990,1991] 1990 1991 [1992,1993] 1992 1993 [1994,1995] 1994 1995 not answered "
    content += "candor verify more-of-them-records.zip --key signing-key.pem python check.py records.json --k 3 "
    content += "k = 3, ℓ(course.grade) = 2 "
    content += "".join(
        f" – course.course: {course}, course.grade: {grade}" for course in ("CS101", "CS201", "MA101", "*") for grade in "ABCD"
    )
    content += " ".join(one.title for one in LICENCES.values())
    package = RecordPackage.objects.get(data_set=public)
    content += f" {package.package_sha256} {package.files} {without_sentences(package.summary)}"
    pages = [record_page(one) for one in (draft, waiting, public)]
    must_be_german(draft.owner, [reverse("analysis:bring_records"), *pages, record_page(public, "public_records")], content)
    must_be_german(officer, [record_page(waiting)], content)


def test_the_page_on_networks_is_german_as_a_whole() -> None:
    source = source_of_circles()
    ask(source, {"kind": "network_ties", "circle": "team", "epsilon": 0.05}, actor=source.whole.owner)
    work_on(Asking.objects.get())
    page = reverse("analysis:analytics_networks", args=[source.whole.slug])
    must_be_german(source.whole.owner, [page], json.dumps(source.whole.definition, ensure_ascii=False))


def test_the_pages_of_records_are_german_as_a_whole() -> None:
    study = closed_study()
    parts = [
        {"size": size, "level": level, "largest": {"courses.grade": 3}, "loss": 0.2, "error": 0.1, "with_totals": 0.1, "insider": 0.3}
        for size in (3, 5)
        for level in (0, 2)
    ]
    desk = {"epsilon": 1.0, "desk": 0.5, "queries": 40, "left_out": 2}
    lines = [[0, "gender: woman"]]
    example = [{"before": lines, "after": lines}]
    sweep = {"simulated": False, "hierarchies": {}, "plan": [*parts, desk], "status": "done", "example": example}
    RecordSweep.objects.create(study=study, found=[*parts, desk], **sweep)
    pages = [reverse(f"analysis:{page}", args=[study.slug]) for page in ("records", "records_or_query")]
    schema = schema_of(study)
    asked = attributes_of(schema, hierarchies_of(study, schema.editable))
    content = json.dumps(study.definition, ensure_ascii=False) + " gender: woman "
    content += " ".join(f"{one.name} {one.words} {' '.join(one.listed.split())}" for one in asked)
    draft = draft_study(owner=study.owner, slug="a-draft")
    pages += [reverse(f"analysis:{page}", args=[draft.slug]) for page in ("records", "records_or_query")]
    must_be_german(study.owner, pages, content)
    RecordSweep.objects.update(status="stopped", found=[*parts[:2], {**parts[2], "desk": None}, {**desk, "desk": 0.01}])
    must_be_german(study.owner, pages, content)


def test_the_way_of_a_release_is_german_as_a_whole() -> None:
    study, officer = closed_study(), person(Role.IRB_OFFICER)
    protection = {"k": 4, "class_size": 6, "l": {"courses.grade": 2}, "suppress": 0.02, "asked": ["devices"], "anatomy": True}
    chosen = {"background": "records", "protection": protection}
    releases = reverse("analysis:releases", args=[study.slug])
    content = json.dumps(study.definition, ensure_ascii=False)
    content += " ".join(schema_of(study).words.values())
    must_be_german(study.owner, [releases], content)
    steps = page_of(logged_in(study.owner).get(releases, headers={"accept-language": "de"})).xpath("//ol[@class='release-steps']/li/text()")
    assert steps == ["Auswählen", "Bauen", "Ansehen", "Genehmigung", "Öffentlich"]
    release = requested_release(study, **chosen)
    page = reverse("analysis:releases_one", args=[study.slug, release.pk])
    lines = [f"– {text}" for record in preview(release, of_people=True).records for _depth, text in record]
    summary, licence = without_sentences(release.summary), LICENCES[release.licence].title
    content += f" {release.title} {', '.join(release.questions)} {summary} {licence} {'; '.join(lines)} "
    must_be_german(officer, [page], content)
    services.approve(release, actor=officer)
    public = [reverse("analysis:public_release", args=[study.slug, 1]), reverse("analysis:public_releases")]
    content += " Did your attention wander during the lect… signing-key.pem "
    must_be_german(study.owner, [page, *public], content)
    visitor = Client(headers={"accept-language": "de-AT,de;q=0.9"})
    assert [page_of(visitor.get(one)).get("lang") for one in public] == ["de", "de"]


def test_the_browser_decides_until_somebody_chooses() -> None:
    owner = person(Role.INVESTIGATOR)
    page, browser = reverse("analysis:data_sets"), logged_in(owner)
    in_german = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}

    def language(address: str = page, **headers: str) -> str:
        return str(page_of(browser.get(address, headers=headers)).get("lang"))

    assert (language(), language(**in_german)) == ("en", "de")
    assert language(reverse("analysis:methods_page"), **in_german) == "en", "a page that is not there in German"
    chosen = browser.post(reverse("account_language"), {"language": "en"})
    assert chosen["Location"] == reverse("account")
    assert language(**in_german) == "en"
    browser.post(reverse("account_language"), {"language": "xx"})
    assert User.objects.get(pk=owner.pk).language == Language.ENGLISH
    browser.post(reverse("account_language"), {"language": "de"})
    assert language() == "de"
    assert [entry.details for entry in Entry.objects.filter(action="account.language_chosen")] == [{"language": "en"}, {"language": "de"}]


def test_what_a_german_page_sends_is_understood() -> None:
    """Numbers have commas on it, and what waits in hidden fields has points."""
    owner = person(Role.INVESTIGATOR)
    browser, made = german(owner), data_set(owner)
    address = reverse("analysis:data_set", args=[made.slug])
    fields = {one.get("name"): one.get("value") for one in page_of(browser.get(address)).xpath("//form[.//button[@value='submit']]//input")}
    assert browser.post(address, {**fields, "epsilon": "0,5", "action": "submit"}).status_code == 302
    made.refresh_from_db()
    assert (made.epsilon, made.status) == (0.5, "waiting")
    officer = german(person(Role.IRB_OFFICER))
    (form,) = page_of(officer.get(address)).xpath("//form[.//button[@value='approve']]")
    sent = {one.get("name"): one.get("value") for one in form.xpath(".//input[@type='hidden']")}
    assert officer.post(address, {**sent, "action": "approve"}).status_code == 302
    desk = reverse("analysis:data_set_questions", args=[made.slug])
    asked = {"kind": "mean", "column": "background.grade", "low": "0,5", "high": "3,5", "exact": "epsilon", "epsilon": "0,2", "show": "1"}
    shown = page_of(browser.get(desk, asked))
    (document,) = shown.xpath("//input[@name='document']/@value")
    assert json.loads(document)["low"] == 0.5
    assert "Es kostet ε = 0,2" in shown.text_content()
    assert browser.post(desk, {"document": document}).status_code == 302
    assert all(re.fullmatch(r"\d+(\.\d+)?", value) for value in shown.xpath("//progress/@value | //progress/@max"))


def test_the_builders_pages_of_arms_are_german_as_a_whole() -> None:
    study = draft_study(**arms_with(*OF_A_KIND))
    survey = draft_study(owner=study.owner, slug="a-survey", arms=[{"name": "all", "label": "Everybody here"}], control="all")
    names = [
        *(["build_arm", arm.name] for arm in definition_of(study).arms),
        *(["build_arm_page", "arm-pages", one["name"]] for one in PAGES),
    ]
    pages = [reverse(f"surveys:{page}", args=[study.slug, *more]) for page, *more in [["build_arms"], *names]]
    pages += [reverse("surveys:build_arms", args=[survey.slug]), reverse("surveys:build_arm", args=[survey.slug, "all"])]
    must_be_german(study.owner, pages, json.dumps([study.definition, survey.definition], ensure_ascii=False))
    told = german(study.owner).post(pages[0], {"duplicate": "arm-reading"}, follow=True)
    assert "Kopiert: Die Kopie ist Nummer" in told.content.decode()


def test_pages_about_logging_in_are_german_as_a_whole() -> None:
    owner = person(Role.INVESTIGATOR)
    strangers = [reverse(name) for name in ("account_login", "account_reset_password", "account_inactive")]
    own = [reverse(name) for name in ("account_change_password", "mfa_index", "mfa_activate_totp", "account_reauthenticate")]
    said: dict[str, set[str]] = {}
    for language in ("en", "de"):
        browser = Client(headers={"accept-language": language})
        pages = [browser.get(address) for address in strangers]
        pages.append(browser.post(reverse("account_login"), {"login": owner.username, "password": "another word"}))
        assert browser.post(reverse("account_login"), {"login": owner.username, "password": PASSWORD}).status_code == 302
        assert browser.post(own[-1], {"password": PASSWORD}).status_code == 302
        pages += [browser.get(address) for address in own]
        wrong = {"oldpassword": "", "password1": "short", "password2": "other"}
        pages += [browser.post(own[0], wrong), browser.post(own[2], {"code": "12"})]
        assert [(one.request["PATH_INFO"], one.get("Location")) for one in pages if one.status_code != 200] == []
        assert {page_of(one).get("lang") for one in pages} == {language}
        said[language] = {text for one in pages for text in sentences(page_of(one)) if owner.username not in text}
    assert said["en"] & said["de"] == set()


def test_the_page_of_tokens_is_german_as_a_whole() -> None:
    owner, page = person(Role.INVESTIGATOR), reverse("account_tokens")
    must_be_german(person(Role.INVESTIGATOR), [page], "")
    for scope in TokenScope:
        issue_token(user=owner, name=f"Script-{scope}", scope=scope, days=10, actor=owner)
    ApiToken.objects.filter(scope=TokenScope.READ).update(last_day=date(2020, 1, 1))
    must_be_german(owner, [page], " ".join(f"Script-{scope}" for scope in TokenScope))
    told = german(owner).post(page, {"action": "revoke", "name": f"Script-{TokenScope.READ}"}, follow=True)
    assert "Das Token wurde widerrufen" in told.content.decode()
    browser = german(owner)
    assert browser.post(reverse("account_reauthenticate"), {"password": PASSWORD}).status_code == 302
    assert "Sag, wofür das Token ist." in browser.post(page, {"name": "", "scope": "read", "last_day": ""}).content.decode()


def test_the_pages_of_the_log_are_german_as_a_whole() -> None:
    """Details of entries stand there as the log has them."""
    officer, study = person(Role.IRB_OFFICER), recruiting_study()
    for action in actions.registered().keys() - {"test.opened"}:
        record(actor=officer, action=action, subject=study, details={"why": "the words of somebody", "kept": True})
    record(actor=None, action=actions.VERIFIED, subject=None)
    own = reverse("surveys:study_log", args=[study.slug])
    log = reverse("surveys:log")
    content = json.dumps(study.definition, ensure_ascii=False) + " surveys.study audit.entry accounts.user "
    content += str(actions.registered().get("test.opened", ""))  # other tests of this process register it, and the filter offers it
    asked = f"{log}?kind=release.&person=nobody"
    must_be_german(officer, [log, own, asked, *(f"{log}?before={number}" for number in range(50, 200, 50))], content)
    verify_and_record(actor=officer)
    must_be_german(person(Role.IRB_OFFICER), [log], content)
    assert "Einträge sind so, wie sie geschrieben wurden" in german(officer).get(log).content.decode()
    record(
        actor=None,
        action=actions.VERIFIED,
        subject=None,
        details={"intact": 4, "broken_at": 5, "finding": "Entry 5 is not as it was written: its hash. Intact before it: 4."},
    )
    must_be_german(person(Role.IRB_OFFICER), [log], content)
    assert "Eintrag 5 ist nicht so, wie er geschrieben wurde" in german(officer).get(log).content.decode()


def test_the_pages_of_reviews_are_german_as_a_whole() -> None:
    study, officer, draft = draft_study(slug="a-review"), person(Role.IRB_OFFICER), draft_study(slug="a-draft")
    study = studies.submit_for_review(study, actor=study.owner)
    own = reverse("surveys:review", args=[study.slug])
    content = json.dumps(study.definition, ensure_ascii=False) + " The words of an officer. Keep the lecture short. It is needed here. "
    must_be_german(person(Role.IRB_OFFICER), [own, reverse("surveys:privacy_limit")], content)
    set_limit(2.5, actor=officer)
    reviews.comment(study, section=PacketSection.CONSENT.value, text="The words of an officer.", actor=officer)
    reviews.assign(study, reviewer=officer.username, actor=officer)
    must_be_german(person(Role.IRB_OFFICER), [own, reverse("surveys:privacy_limit")], content)
    must_be_german(study.owner, [own], content)
    study = reviews.approve(study, actor=officer, conditions="Keep the lecture short.", reason="It is needed here.")
    must_be_german(officer, [own, reverse("surveys:review", args=[draft.slug])], content)


def test_a_missing_reason_is_asked_for_in_the_language_of_the_page() -> None:
    made, officer = data_set(), person(Role.IRB_OFFICER)
    User.objects.filter(pk=officer.pk).update(language="de")
    submit(made, budget=BUDGET, delete_on=usual_day(), actor=made.owner)
    answer = logged_in(officer).post(reverse("analysis:data_set", args=[made.slug]), {"action": "send-back", "reason": ""})
    assert answer.status_code == 422
    assert "Schreibe, warum der Datenbestand zurückgeht." in page_of(answer).text_content()
