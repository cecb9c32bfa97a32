"""Runs as a process, because single sign-on is configured before Django starts: log in by SAML, honestly and not, and print the outcome."""

import base64
import json
import os
import sys
from typing import Any

import django
from django.core.management import call_command
from django.test import Client
from django.test.utils import setup_test_environment

from tests import saml_provider as idp
from tests.saml_provider import Asked, Pair, answer

HOST = "localhost"
ACS = "/accounts/saml/sso/acs/"
USER = "urn:oid:0.9.2342.19200300.100.1.1"


def browser() -> Client:
    return Client(enforce_csrf_checks=True, headers={"host": HOST}, raise_request_exception=False)


def begun(client: Client) -> Asked:
    return Asked(client.get("/accounts/saml/sso/login/?next=/plan/")["Location"])


def given(client: Client, message: str) -> dict[str, Any]:
    """Give an answer in a browser: its last status, where it is sent, and who it is then."""
    from accounts.models import User

    back = client.post(ACS, {"SAMLResponse": message, "RelayState": ""}, headers={"origin": "https://idp.example.edu"})
    if back.status_code == 302:
        back = client.get(back["Location"])
    number = client.session.get("_auth_user_id")
    user = User.objects.filter(pk=number).first() if number else None
    return {"status": back.status_code, "to": back.headers.get("Location", ""), "user": user and [user.username, user.email, user.role]}


def loaded() -> list[str]:
    return [name for name in ("onelogin", "accounts.login.saml.views") if name in sys.modules]


def honest(pair: Pair, own: bytes | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    client = browser()
    found["button"] = "Log in with Example University" in client.get("/accounts/login/").content.decode()
    found["loaded"] = loaded()
    metadata = client.get("/accounts/saml/sso/metadata/")
    found["metadata"] = [metadata.status_code, metadata["Content-Type"], metadata.content.decode()]
    asked = begun(client)
    found["asked"] = [asked.address.split("?")[0], asked.site, asked.acs, sorted(asked.parameters)]
    found["first"] = given(client, answer(asked, pair, encrypted_for=own))
    found["new_study"] = client.get("/new-study/").status_code
    page = client.post("/accounts/logout/", {"csrfmiddlewaretoken": token(client)})
    found["logout"] = [page.status_code, page.headers.get("Location", ""), "_auth_user_id" in client.session]
    goodbye = client.get("/accounts/saml/goodbye/")
    found["goodbye"] = [goodbye.status_code, goodbye.content.decode()]
    found["goodbye_again"] = client.get("/accounts/saml/goodbye/").status_code
    found["back"] = client.get("/accounts/saml/sso/sls/?SAMLResponse=abc").status_code
    officer = idp.PERSON | {"urn:oid:1.3.6.1.4.1.5923.1.5.1.1": ["ethics board", "researchers"]}
    for name, changes in {
        "again": {"signed": ("Response",)},
        "both": {"signed": ("Assertion", "Response")},
        "officer": {"attributes": officer},
        "comment": {"name_id": "person-1<!-- a comment -->.and-more", "attributes": idp.PERSON | {USER: ["eve"]}},
    }.items():
        client = browser()
        found[name] = given(client, answer(begun(client), pair, **changes))
    found["logged_in"] = "_auth_user_id" in client.session
    address = f"http://{HOST}/accounts/saml/sso/sls/"
    forged = {"unsigned": idp.logout_request(address, None), "stranger": idp.logout_request(address, Pair("stranger"))}
    for name, url in (forged | {"garbage": f"{address}?SAMLRequest=abc&Signature=abc&SigAlg=abc"}).items():
        found[f"logout_{name}"] = [client.get(path_of(url)).status_code, "_auth_user_id" in client.session]
    ended = client.get(path_of(idp.logout_request(address, pair)))
    found["logout_signed"] = [ended.status_code, ended.headers.get("Location", "").split("?")[0], "_auth_user_id" in client.session]
    return found


def path_of(url: str) -> str:
    return url.removeprefix(f"http://{HOST}")


def token(client: Client) -> str:
    client.get("/accounts/login/" if "_auth_user_id" not in client.session else "/accounts/")
    return client.cookies["csrftoken"].value


def attacks(pair: Pair) -> dict[str, Any]:
    """Each ends without a login; the negative control, an honest answer, ends with one."""
    stranger, found = Pair("stranger"), {}
    sent: dict[str, dict[str, Any]] = {
        "honest": {},
        "unsigned": {"signed": ()},
        "signed by a stranger": {"pair": stranger},
        "signed with SHA-1": {"algorithm": "SHA1"},
        "no value in the signature": {"after": idp.without_signature_value},
        "another person under the signature": {"after": idp.renamed},
        "one group more under the signature": {"after": idp.promoted},
        "forged before the signed": {"after": idp.beside(2)},
        "forged behind the signed": {"after": idp.beside(99)},
        "signed within the forged one's signature": {"after": idp.wrapped(same_number=False)},
        "the same with its number": {"after": idp.wrapped(same_number=True)},
        "signed among extensions": {"after": idp.in_extensions},
        "signed within the forged": {"after": idp.inside_the_forged},
        "signed response within its signature": {"signed": ("Response",), "after": idp.response_in_its_signature},
        "the signed assertion twice": {"after": idp.twice},
        "expired": {"ends": -6, "confirmed_until": -6},
        "confirmation expired": {"confirmed_until": -6},
        "confirmation without an end": {"confirmed_until": None},
        "not yet": {"starts": 10},
        "for another site": {"audience": "https://another.example.org/metadata"},
        "for no site": {"audience": None},
        "sent elsewhere": {"recipient": "https://another.example.org/acs"},
        "sent elsewhere with a longer address": {"recipient": f"https://another.example.org/?http://{HOST}{ACS}"},
        "sent nowhere": {"recipient": None},
        "by another provider": {"issuer": "https://another.example.org/saml"},
        "to another request": {"answers": "_another"},
        "to no request": {"answers": None, "confirmed": None},
        "to no request in what is signed": {"confirmed": None},
        "to another request in what is signed": {"confirmed": "_another"},
        "not successful": {"status": "Responder"},
        "a name for one day": {"name_format": "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"},
        "without a name": {"name_id": ""},
    }
    for name, changes in sent.items():
        client = browser()
        found[name] = given(client, answer(begun(client), changes.pop("pair", pair), **changes))
    client = browser()
    first = answer(begun(client), pair)
    given(client, first)
    other = browser()
    begun(other)
    found["seen before, in another browser"] = given(other, first)
    relayed = browser()
    number = begun(relayed).number
    document = idp.etree.fromstring(base64.b64decode(first))
    document.set("InResponseTo", number)
    found["seen before, as an answer to one's own request"] = given(relayed, base64.b64encode(idp.etree.tostring(document)).decode())
    same = browser()
    message = answer(begun(same), pair)
    given(same, message)
    same.post("/accounts/logout/", {"csrfmiddlewaretoken": token(same)})
    found["seen before, in the same browser"] = given(same, message)
    mallory, victim = browser(), browser()
    begun(victim)
    found["somebody else's login"] = given(victim, answer(begun(mallory), pair))
    entity = b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'
    for name, raw in {"an entity": entity, "no XML": b"abc", "nothing": b"", "another document": b"<a/>"}.items():
        client = browser()
        begun(client)
        found[name] = given(client, base64.b64encode(raw).decode())
    client = browser()
    found["no base64"] = given(client, "%%%")
    page = browser().get("/accounts/error/").content.decode()
    found["the page of a refusal"] = {"status": 401 if "its log names the reason" in page else 200, "to": "", "user": None}
    client = browser()
    found["no message"] = {"status": client.post(ACS).status_code, "to": "", "user": None}
    found["asked for with GET"] = {"status": client.get(ACS).status_code, "to": "", "user": None}
    found["finished without a message"] = {"status": browser().get(f"{ACS}finish/").status_code, "to": "", "user": None}
    found["another organisation"] = {"status": browser().get("/accounts/saml/other/login/").status_code, "to": "", "user": None}
    return found


def visit(what: str) -> dict[str, Any]:
    from accounts.models import User
    from audit.models import Entry

    pair = Pair.read(os.environ["IDP_KEY"].encode(), os.environ["IDP_CERTIFICATE"].encode())
    own = os.environ.get("SAML_CERTIFICATE", "").encode() or None
    found = honest(pair, own) if what == "honest" else attacks(pair)
    return {
        "found": found,
        "accounts": list(User.objects.order_by("pk").values_list("username", "email", "role")),
        "log": list(Entry.objects.values_list("action", flat=True)),
    }


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.test"
    sys.path[:0] = [".", "platform"]
    django.setup()
    setup_test_environment()
    call_command("migrate", verbosity=0)
    print(json.dumps(visit(sys.argv[1])))
