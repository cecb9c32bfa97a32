"""Every address and every kind of work is named: as traced in `config.traces.safe`, or as not traced here, with the reason. A new one fails
until it is.
"""

from fnmatch import fnmatch

from django.urls import reverse

from config.log_privacy import PARTICIPANTS
from config.traces.safe import ADDRESSES, JOBS
from jobs.registry import JOBS as KINDS
from tests.audits.test_permissions import own_routes
from tests.audits.who_may_enter import ARGUMENTS, EVERYWHERE, RECRUITING, REFUSED
from tests.audits.who_may_enter_data import OF_A_DATA_SET, OF_A_RECORD_SET

NOT_TRACED = {
    "surveys": {
        "a participant asks for it": (
            *("journey", "begin_anew", "progress", "resume", "return", "withdraw", "consent_copy", "transparency", "privacy", "allocation"),
            *(
                "allocation_list",
                "media",
                "in_class",
                "class_*",
                "join",
                "open_studies",
                "two_worlds",
                "privacy_for_strangers",
                "log_heads",
            ),
            "credit",
        ),
        "it shows numbers of people, or who used a code": (
            *("study", "codes", "api_codes", "api_make_codes", "api_completion_codes", "ways_in", "api_ways_in", "api_join_codes"),
            *("letters", "poster", "study_link_qr", "arms", "api_arms", "api_arm"),
        ),
        "it reads or deletes what people have answered": ("words", "api_words", "forget", "api_retention"),
        "it is the page of a participant": ("preview", "preview_media"),
    },
    "analysis": {
        "a participant or a visitor asks for it": (
            *("feedback", "outlook", "public_*", "signing_keys", "evidence", "evidence_package", "methods_page", "robots", "site_map"),
            *("api_releases", "api_release", "api_release_package"),
        ),
        "it changes with each batch": (
            *("results", "results_preregistration", "compute", "blinding", "figure", "table"),
            *("api_counts", "api_results", "api_preregistration_report", "api_runs", "api_cancel_run", "api_blinding", "api_files"),
            *("api_figure", "api_table"),
        ),
        "a withdrawal makes it anew": (
            *("analytics", "analytics_*", "api_analytics_*", "api_preview_*", "api_table_made_again", "releases", "releases_*"),
            *("api_study_releases", "api_study_release", "api_release_step", "records", "records_or_query", "api_records"),
            *("api_records_or_query", "api_study_hierarchy", "api_stop_records", "api_confirm_records", "api_build_records"),
        ),
        "the same pages as those of a study": (
            *("data_set_difficulties*", "data_set_questions", "data_set_topics", "data_set_ledger", "data_set_records_or_query"),
            *("api_data_set_difficulties", "api_data_set_questions", "api_data_set_topics", "api_data_set_ledger", "api_data_set_frozen"),
            *("api_data_set_table_made_again", "api_data_set_preview*", "api_record_set_or_query"),
        ),
    },
    "lti": {"students and their credit": ("*",)},
    "webhooks": {"a message follows what people do": ("*",)},
    "": {
        "when somebody logs in is theirs": ("account", "account_[!t]*", "mfa_*", "log_out_elsewhere", "admin_*", "api_account"),
        "a visitor asks for it": ("home", "first_page", "favicon", "schema"),
        "it shows what waits": ("work",),
    },
}
NOT_TRACED_WORK = {
    "it follows a finisher": {
        *("first_results", "full_results", "bootstrap_chunk", "complete_batches", "shown_numbers", "allocation_lists", "lists_ahead")
    },
    "it goes through people": {
        "order_of_arrival",
        "order_of_days",
        "kept_counts",
        "retention",
        "outdated_results",
        "everyone_counted",
        "those_who_left",
        "remembered_withdrawals",
    },
    "it tells of a person": {"delivery", "old_deliveries", "credit", "last_credit", "credit_batch"},
    "a withdrawal ends it or begins it anew": {
        "release",
        "outdated_releases",
        "log_of_outdated_releases",
        "snapshot",
        "question",
        "record_sweep",
        "record_sweep_part",
    },
}


def refusing(name: str) -> list[str]:
    """The reasons for which this address is not traced."""
    namespace, _, own = name.rpartition(":")
    return [reason for reason, patterns in NOT_TRACED[namespace].items() if any(fnmatch(own, pattern) for pattern in patterns)]


def test_every_address_is_traced_or_named_with_the_reason_why_not() -> None:
    found = {name: refusing(name) for name in own_routes()}
    assert sorted(name for name, reasons in found.items() if len(reasons) != (name not in ADDRESSES)) == []
    assert set(found) >= ADDRESSES, "traced, and not there"
    named = {f"{namespace}:{each}".lstrip(":") for namespace, all_ in NOT_TRACED.items() for one in all_.values() for each in one}
    assert [pattern for pattern in named if not any(fnmatch(name, pattern) for name in found)] == []


def test_nobody_without_an_account_comes_to_a_traced_address() -> None:
    for name in ADDRESSES:
        outcomes = [table[name][0] for table in (EVERYWHERE, RECRUITING, OF_A_DATA_SET, OF_A_RECORD_SET) if name in table]
        assert outcomes, name
        assert set(outcomes) <= {*REFUSED}, name


def test_no_traced_address_is_one_of_participants() -> None:
    given, parameters = {**ARGUMENTS, "slug": "a-study"}, own_routes()
    traced = {reverse(name, kwargs={each: given[each] for each in parameters[name]}) for name in ADDRESSES}
    assert [address for address in traced if address.startswith((*PARTICIPANTS, "/events/"))] == []


def test_every_kind_of_work_is_traced_or_named_with_the_reason_why_not() -> None:
    named = [kind for kinds in NOT_TRACED_WORK.values() for kind in kinds]
    assert sorted([*named, *JOBS]) == sorted(KINDS)
