"""Runs as a process, because single sign-on is configured before Django starts: log in by it once and print the outcome as JSON."""

import json
import os
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

import django
from django.core.management import call_command
from django.test import Client
from django.test.utils import setup_test_environment


def visit() -> dict[str, Any]:
    from accounts.models import User
    from audit.models import Entry

    client = Client()
    page = client.get("/accounts/login/").content.decode()
    away = client.get("/accounts/oidc/sso/login/?next=/plan/")
    asked = parse_qs(urlsplit(away["Location"]).query)
    back = client.get(f"/accounts/oidc/sso/login/callback/?code=from-the-issuer&state={asked['state'][0]}")
    return {
        "button": "Log in with Example University" in page,
        "away": away["Location"].split("?")[0],
        "asked": {name: values[0] for name, values in asked.items()},
        "status": back.status_code,
        "location": back.headers.get("Location", ""),
        "new_study": client.get("/new-study/").status_code,
        "logged_in": "_auth_user_id" in client.session,
        "accounts": list(User.objects.values_list("username", "email", "role")),
        "log": list(Entry.objects.values_list("action", flat=True)),
        "when_it_fails": [Client().get(address).status_code for address in ("/accounts/cancelled/", "/accounts/error/")],
    }


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.test"
    sys.path[:0] = [".", "platform"]
    django.setup()
    setup_test_environment()
    call_command("migrate", verbosity=0)
    print(json.dumps(visit()))
