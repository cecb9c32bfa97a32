"""Every page of staff is there in the language of its reader; the addresses that are not are named here, each with its reason."""

from collections.abc import Callable, Iterator
from typing import Any

from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.access import in_own_language

WRAPPED = in_own_language(lambda _request: HttpResponse()).__code__
# Participants read them in a language of their study, and strangers in every language that there is.
IN_EVERY_LANGUAGE = {
    *(f"surveys:{name}" for name in ("journey", "begin_anew", "progress", "resume", "return", "credit", "withdraw")),
    *(f"surveys:{name}" for name in ("consent_copy", "transparency", "privacy", "allocation")),
    *(f"surveys:{name}" for name in ("in_class", "class_room", "class_screen", "class_batches")),
    *(f"surveys:{name}" for name in ("join", "open_studies", "two_worlds", "privacy_for_strangers")),
    *(f"lti:{name}" for name in ("login", "launch", "credit")),
    "analysis:feedback",
    "analysis:outlook",
    "home",  # people with an account read it in their own
}
# Programs read them, or somebody publishes or keeps them: they are the same for everybody.
FILES = {
    *(f"surveys:{name}" for name in ("allocation_list", "media", "log_heads", "build_words", "build_export_file", "build_archive")),
    *(f"surveys:{name}" for name in ("protocol_preregistration_file", "study_link_qr", "preview_media", "export_study_log", "export_log")),
    *(f"analysis:{name}" for name in ("analytics_difficulties_file", "data_set_difficulties_file", "figure", "table", "evidence_package")),
    *(f"analysis:{name}" for name in ("public_records_package", "signing_keys", "public_package", "public_files", "public_file")),
    "analysis:robots",
    "analysis:site_map",
    "lti:keys",
    "favicon",
    "schema",
}
LEAD_ON = {"first_page", "account_language", "account_logout", "admin_door", "admin_password"}
# A report of proofs and docs/methods.md, whose own words are English.
ENGLISH = {"analysis:evidence", "analysis:methods_page"}


def pages(patterns: list[URLPattern | URLResolver], namespace: str = "") -> Iterator[tuple[str, Callable[..., Any]]]:
    """The name and the view of every address but those of the API and of Django's administration."""
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield f"{namespace}{pattern.name}", pattern.callback
        elif pattern.namespace != "admin":
            yield from pages(pattern.url_patterns, f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace)


def is_in_own_language(view: Callable[..., Any] | None) -> bool:
    return view is not None and (getattr(view, "__code__", None) is WRAPPED or is_in_own_language(getattr(view, "__wrapped__", None)))


def test_every_page_of_staff_is_in_the_language_of_its_reader() -> None:
    every = {name: view for name, view in pages(get_resolver().url_patterns) if not name.rpartition(":")[2].startswith("api_")}
    others = {name for name, view in every.items() if not is_in_own_language(view)}
    assert others == IN_EVERY_LANGUAGE | FILES | LEAD_ON | ENGLISH
    assert len(every) - len(others) > 60
