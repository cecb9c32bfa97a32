"""The addresses and the kinds of work that are traced: those named here, and nothing else.

A trace tells when something happened, and how long each of its statements took. So nothing is named whose statements follow participants:
no address of theirs, no results, no page with a study's numbers, no list of codes, no work that a finisher or a withdrawal begins, ends or
takes away.
"""

STUDIES = {
    *("studies", "action", "duplicate_study", "new_study", "import_study", "people", "invitation", "new_account"),
    *("study_log", "export_study_log", "log", "verify_log", "export_log"),
    *("protocol", "protocol_version", "protocol_changes", "review", "comment", "assign", "sign", "privacy_limit"),
    *("protocol_preregistration", "protocol_preregistration_version", "protocol_preregistration_file"),
    *("build", "build_company", "build_history", "build_about", "build_languages", "build_ways", "build_words", "build_consent"),
    *("build_allocation", "build_subgroups", "build_direct", "build_arms", "build_arm", "build_arm_page", "build_background"),
    *("build_import", "build_export", "build_export_file", "build_quiz", "build_questions", "build_add", "build_paste", "build_item"),
    *("build_debrief", "build_tests", "build_plans", "build_publication", "build_file", "build_archive"),
    *("api_studies", "api_study", "api_action", "api_definition", "api_new_study", "api_import_study", "api_archive", "api_duplicate"),
    *("api_new_version", "api_history", "api_take_back_change", "api_restore_version", "api_translations", "api_imports", "api_export"),
    *("api_people", "api_person", "api_owner", "api_invitation", "api_waiting_invitation", "api_media", "api_arm_files", "api_arm_file"),
    *("api_log", "api_verify_log", "api_export_log", "api_study_log", "api_export_study_log"),
    *("api_protocol", "api_protocol_changes", "api_preregistration", "api_privacy_limit"),
    *("api_review", "api_comment", "api_assign", "api_sign"),
}
ANALYSIS = {
    *("plan", "study_plan", "build_die", "build_budget", "api_power", "inbox", "decisions", "decisions_table"),
    *("api_review_queue", "api_decisions", "rehearsal", "api_rehearsal", "api_stop_rehearsal"),
    *("diagnosis", "api_diagnosis", "api_stop_diagnosis"),
    *("data_sets", "data_set", "bring_data", "bring_records", "data_set_records", "data_set_invitation", "data_set_account"),
    *("api_data_sets", "api_data_set", "api_data_set_step", "api_data_set_people", "api_data_set_person", "api_data_set_invitation"),
    *("api_waiting_analyst_invitation", "api_bring_records", "api_record_set", "api_record_roles", "api_record_hierarchy"),
    *("api_stop_record_set", "api_confirm_record_set", "api_build_record_set", "api_record_set_step"),
}
ADDRESSES = {"account_tokens", *(f"surveys:{name}" for name in STUDIES), *(f"analysis:{name}" for name in ANALYSIS)}
"""Names of views."""
JOBS = {
    *("rehearsal", "diagnosis", "record_package", "deposit", "kept_answers", "log_head", "ends_of_approvals", "data_set_retention"),
    *("remembered_ends", "remembered_charges", "remembered_publications", "remembered_retractions", "platform_keys"),
}
"""Kinds of work."""
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
