"""The twin of every page in the API: what `test_api_twins.py` holds Candor to. A line for each page that is not for the API alone."""

# Pages of people without an account: they take part, or read what is public. Their data are public files, or nobody's business.
OF_STRANGERS = {
    *("favicon", "home", "first_page", "schema"),
    *(f"surveys:{name}" for name in ("journey", "begin_anew", "progress", "resume", "return", "credit", "withdraw", "consent_copy")),
    *(f"surveys:{name}" for name in ("transparency", "privacy", "allocation", "allocation_list", "media", "open_studies", "two_worlds")),
    *(f"surveys:{name}" for name in ("log_heads", "in_class", "class_room", "class_screen", "class_batches")),
    *(f"surveys:{name}" for name in ("join", "privacy_for_strangers")),
    *(f"lti:{name}" for name in ("keys", "login", "launch", "choose", "credit")),
    *(f"analysis:{name}" for name in ("feedback", "outlook", "robots", "site_map", "evidence", "evidence_package", "methods_page")),
    *(f"analysis:{name}" for name in ("public_records", "public_records_package", "public_file", "public_files", "signing_keys")),
}
# Pages of staff that are about the page, the browser or the password: a program has none of them.
OF_BROWSERS = {
    "admin_door": "a login",
    "admin_password": "a password",
    "account_login": "a login",
    "account_logout": "a session",
    "log_out_elsewhere": "sessions",
    "account_language": "the language of pages; programs send Accept-Language",
    "account_inactive": "a login",
    "account_signup": "a login",
    "account_reauthenticate": "a login",
    "account_change_password": "a password",
    "account_set_password": "a password",
    "account_reset_password": "a password",
    "account_reset_password_done": "a password",
    "account_reset_password_from_key": "a password",
    "account_reset_password_from_key_done": "a password",
    "mfa_authenticate": "the second factor",
    "mfa_reauthenticate": "the second factor",
    "mfa_index": "the second factor",
    "mfa_activate_totp": "the second factor",
    "mfa_deactivate_totp": "the second factor",
    "mfa_view_recovery_codes": "the second factor",
    "mfa_generate_recovery_codes": "the second factor",
    "mfa_download_recovery_codes": "the second factor",
    "account_tokens": "a token must not make others that live longer",
    "work": "what waits in the queues, for administrators of the server, who have /healthz and commands",
    "lti:platform_keys": "the keys that sign for this server, for its administrators, who have `manage.py renew_platform_key`",
    "surveys:build_company": "the pages that are open, and by whom; nothing is stored",
    "surveys:build_words": "the sentences of pages in a language that is being added, as a file for its translators",
    "surveys:preview": "the participants' pages, drawn; nothing is stored",
    "surveys:preview_media": "the same",
    "surveys:study_link_qr": "a picture of a link",
    "surveys:poster": "a sheet to be printed, with a picture of a link",
    "surveys:letters": "letters that the browser writes with addresses which no server sees",
    "analysis:releases_deposit": "the requests for a DOI, written out before they are sent; nothing is stored",
    "surveys:new_account": "a login for somebody who was invited",
    "analysis:data_set_account": "a login for somebody who was invited",
}
DEFINITION = ("GET surveys:api_definition", "PUT surveys:api_definition", "PATCH surveys:api_definition")
RELEASES = ("GET analysis:api_study_releases", "POST analysis:api_study_releases", "POST analysis:api_build_records")
TEAM = (
    "GET surveys:api_people",
    "POST surveys:api_people",
    "PATCH surveys:api_person",
    "DELETE surveys:api_person",
    "PUT surveys:api_owner",
)
REVIEW = ("GET surveys:api_review", "POST surveys:api_comment", "PUT surveys:api_assign", "POST surveys:api_sign")
FILES = ("POST surveys:api_arm_files", "DELETE surveys:api_arm_file", "POST surveys:api_media")
SWEEP = ("POST analysis:api_records", "POST analysis:api_stop_records")
OF_RECORDS = tuple(
    f"POST analysis:api_{name}"
    for name in ("record_roles", "record_hierarchy", "record_set", "stop_record_set", "build_record_set", "confirm_record_set")
)
DATA_SET = ("GET analysis:api_data_set", "GET analysis:api_data_set_people", "POST analysis:api_data_set_people")
TWINS: dict[str, tuple[str, ...]] = {
    "account": ("GET api_account",),
    "account_notices": ("PATCH api_account",),
    "surveys:studies": ("GET surveys:api_studies",),
    "surveys:study": ("GET surveys:api_study", "POST surveys:api_action"),
    "surveys:action": ("POST surveys:api_action",),
    "surveys:new_study": ("GET surveys:api_new_study", "POST surveys:api_new_study"),
    "surveys:import_study": ("POST surveys:api_import_study", "POST surveys:api_studies"),
    "surveys:duplicate_study": ("POST surveys:api_duplicate",),
    "surveys:build": ("GET surveys:api_study", "POST surveys:api_new_version"),
    "surveys:build_history": (
        "GET surveys:api_history",
        "POST surveys:api_take_back_change",
        "POST surveys:api_restore_version",
    ),
    "surveys:build_arms": DEFINITION,
    "surveys:build_arm": (*DEFINITION, *FILES),
    "surveys:build_arm_page": (*DEFINITION, *FILES),
    "surveys:build_languages": (*DEFINITION, "POST surveys:api_media", "POST surveys:api_translations"),
    **dict.fromkeys(
        (
            *(
                f"surveys:build_{part}"
                for part in ("about", "consent", "allocation", "subgroups", "direct", "background", "quiz", "questions")
            ),
            *(f"surveys:build_{part}" for part in ("add", "paste", "item", "debrief", "tests", "plans", "publication", "file")),
            "surveys:build_ways",
            "analysis:build_die",
            "analysis:build_budget",
        ),
        DEFINITION,
    ),
    "surveys:build_import": ("POST surveys:api_imports",),
    "surveys:build_export": ("GET surveys:api_export",),
    "surveys:build_export_file": ("GET surveys:api_export",),
    "surveys:build_archive": ("GET surveys:api_archive",),
    "surveys:protocol": ("GET surveys:api_protocol",),
    "surveys:protocol_version": ("GET surveys:api_protocol",),
    "surveys:protocol_changes": ("GET surveys:api_protocol_changes",),
    "surveys:protocol_preregistration": ("GET surveys:api_preregistration",),
    "surveys:protocol_preregistration_version": ("GET surveys:api_preregistration",),
    "surveys:protocol_preregistration_file": ("GET surveys:api_preregistration",),
    "surveys:review": REVIEW,
    "surveys:comment": REVIEW,
    "surveys:assign": REVIEW,
    "surveys:sign": REVIEW,
    "surveys:privacy_limit": ("GET surveys:api_privacy_limit", "PUT surveys:api_privacy_limit"),
    "surveys:codes": (
        "GET surveys:api_codes",
        "POST surveys:api_codes",
        "POST surveys:api_make_codes",
        "POST surveys:api_completion_codes",
    ),
    "surveys:ways_in": ("GET surveys:api_ways_in", "POST surveys:api_join_codes"),
    "surveys:study_log": ("GET surveys:api_study_log",),
    "surveys:export_study_log": ("GET surveys:api_export_study_log",),
    "surveys:log": ("GET surveys:api_log",),
    "surveys:verify_log": ("POST surveys:api_verify_log",),
    "surveys:export_log": ("GET surveys:api_export_log",),
    "surveys:forget": ("GET surveys:api_retention", "POST surveys:api_retention"),
    "surveys:words": ("GET surveys:api_words",),
    "surveys:people": (*TEAM, "DELETE surveys:api_waiting_invitation"),
    "surveys:invitation": ("GET surveys:api_invitation", "POST surveys:api_invitation"),
    "webhooks:webhooks": (
        "GET webhooks:api_webhooks",
        "POST webhooks:api_webhooks",
        "DELETE webhooks:api_webhook",
        "GET webhooks:api_deliveries",
        "POST webhooks:api_send_again",
        "POST webhooks:api_secret",
    ),
    "lti:study_credit": ("GET lti:api_study_credit", "PUT lti:api_study_credit", "POST lti:api_send_credit_again"),
    "analysis:plan": ("POST analysis:api_power",),
    "analysis:study_plan": ("GET surveys:api_definition", "POST analysis:api_power"),
    "analysis:analytics": ("GET analysis:api_analytics_ledger",),
    "analysis:analytics_networks": (
        "GET analysis:api_analytics_networks",
        "POST analysis:api_analytics_networks",
        "POST analysis:api_preview_network",
    ),
    "analysis:analytics_difficulties": (
        "GET analysis:api_analytics_difficulties",
        "POST analysis:api_analytics_difficulties",
        "POST analysis:api_preview_difficulties",
    ),
    "analysis:analytics_difficulties_file": ("GET analysis:api_analytics_difficulties",),
    "analysis:analytics_questions": (
        "GET analysis:api_analytics_questions",
        "POST analysis:api_analytics_questions",
        "POST analysis:api_analytics_preview",
    ),
    "analysis:analytics_ledger": (
        "GET analysis:api_analytics_ledger",
        "POST analysis:api_analytics_frozen",
        "POST analysis:api_table_made_again",
    ),
    "analysis:data_sets": ("GET analysis:api_data_sets",),
    "analysis:bring_data": ("POST analysis:api_data_sets",),
    "analysis:bring_records": ("POST analysis:api_bring_records",),
    "analysis:data_set_records": (
        "GET analysis:api_record_set",
        *OF_RECORDS,
        "DELETE analysis:api_build_record_set",
        "POST analysis:api_record_set_step",
    ),
    "analysis:data_set_records_or_query": (
        "GET analysis:api_record_set_or_query",
        "POST analysis:api_record_set",
        "POST analysis:api_stop_record_set",
    ),
    "analysis:data_set_invitation": ("GET analysis:api_data_set_invitation", "POST analysis:api_data_set_invitation"),
    "analysis:data_set": (
        *DATA_SET,
        "DELETE analysis:api_data_set_person",
        "DELETE analysis:api_waiting_analyst_invitation",
        "POST analysis:api_data_set_step",
    ),
    "analysis:data_set_difficulties": (
        "GET analysis:api_data_set_difficulties",
        "POST analysis:api_data_set_difficulties",
        "POST analysis:api_data_set_preview_difficulties",
    ),
    "analysis:data_set_difficulties_file": ("GET analysis:api_data_set_difficulties",),
    "analysis:data_set_questions": (
        "GET analysis:api_data_set_questions",
        "POST analysis:api_data_set_questions",
        "POST analysis:api_data_set_preview",
    ),
    "analysis:data_set_topics": (
        "GET analysis:api_data_set_topics",
        "POST analysis:api_data_set_topics",
        "POST analysis:api_data_set_preview_topics",
    ),
    "analysis:data_set_ledger": (
        "GET analysis:api_data_set_ledger",
        "POST analysis:api_data_set_frozen",
        "POST analysis:api_data_set_table_made_again",
    ),
    "analysis:inbox": ("GET analysis:api_review_queue",),
    "analysis:decisions": ("GET analysis:api_decisions",),
    "analysis:decisions_table": ("GET analysis:api_decisions",),
    "analysis:rehearsal": (
        "GET analysis:api_rehearsal",
        "POST analysis:api_rehearsal",
        "DELETE analysis:api_rehearsal",
        "POST analysis:api_stop_rehearsal",
    ),
    "analysis:diagnosis": (
        "GET analysis:api_diagnosis",
        "POST analysis:api_diagnosis",
        "DELETE analysis:api_diagnosis",
        "POST analysis:api_stop_diagnosis",
    ),
    "analysis:records": ("GET analysis:api_records", *SWEEP, "POST analysis:api_study_hierarchy"),
    "analysis:records_or_query": ("GET analysis:api_records_or_query", *SWEEP),
    "analysis:releases": RELEASES,
    "analysis:releases_one": ("GET analysis:api_study_release", "POST analysis:api_release_step", "POST analysis:api_confirm_records"),
    "analysis:public_releases": ("GET analysis:api_releases",),
    "analysis:public_study_releases": ("GET analysis:api_releases",),
    "analysis:public_release": ("GET analysis:api_release",),
    "analysis:public_package": ("GET analysis:api_release_package",),
    "analysis:results": ("GET analysis:api_results",),
    "analysis:results_preregistration": ("GET analysis:api_preregistration_report",),
    "analysis:compute": ("POST analysis:api_runs", "POST analysis:api_cancel_run"),
    "analysis:blinding": ("GET analysis:api_blinding", "PUT analysis:api_blinding"),
    "analysis:figure": ("GET analysis:api_figure",),
    "analysis:table": ("GET analysis:api_table",),
}
# Operations of the admin's pages, which are one rule for everything.
OF_THE_ADMIN = {"PATCH surveys:api_arm"}
# Services that pages call and programs do not: each stores a part of the definition, which programs send as a whole or in part.
OTHERWISE = {
    "surveys.builder.services.change_part": "surveys.studies.services.change_definition",
    "surveys.builder.services.add_page": "surveys.studies.services.change_definition",
    "surveys.builder.services.move_page": "surveys.studies.services.change_definition",
    "surveys.builder.services.remove_page": "surveys.studies.services.change_definition",
    "surveys.builder.services.remove_arm": "surveys.studies.services.change_definition",
    "surveys.builder.services.put_words": "surveys.media.services.add_media_file",
}
# Services of pages that change nothing for staff, with the reason why programs need none.
LEFT_OUT = {
    "surveys.recruitment.services.known_codes": "a number beside a list before it is added; the API says how many are new",
    "surveys.studies.services.may_be_edited": "whether a page shows its form",
    "surveys.sharing.services.create_invited_user": "a login for somebody who was invited",
    "analysis.record_sets.services.download": "a public file, at the address that its page and its citation name",
}
