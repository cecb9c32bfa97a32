"""The promises that `make prove` tries to break, in the order of the report."""

from tests.prove import measured
from tests.prove.trying import Promise

DRAWN = "The operating system’s: noise of a release takes no seed, here as in use."

PROMISES = (
    Promise(
        name="mechanisms",
        title="Private mechanisms keep their stated loss",
        promise="A released number tells about one person no more than the ε or ρ that is stated beside it.",
        ran="Each mechanism releases many times from two neighbouring data sets. An attack guesses which one it was, and gives a lower "
        "bound of ε. The same attack is made on a wrong calibration of each.",
        seeds=DRAWN,
        tests=("tests/contracts/test_mechanisms.py",),
        long_tests=("tests/audits/test_difficulty_attacks.py", "tests/audits/test_privacy_budgets.py"),
        controls=(
            "tests/contracts/test_mechanisms.py::test_the_same_attack_catches_a_wrong_calibration",
            "tests/audits/test_difficulty_attacks.py::test_counts_without_noise_on_zeros_are_refuted",
            "tests/audits/test_difficulty_attacks.py::test_algorithm_1_is_refuted_by_outputs",
            "tests/audits/test_privacy_budgets.py::test_without_a_budget_the_same_audit_finds_the_balance",
        ),
        measure=measured.mechanisms,
    ),
    Promise(
        name="intervals",
        title="Intervals cover",
        promise="A 95 % interval holds the truth in 95 % of studies, with few people and with cheaters too.",
        ran="Simulated studies over sizes, shares of cheaters, effects and dice (python -m benchmarks.coverage has the whole table). The "
        "control takes reported answers for the truth.",
        seeds=f"{measured.SEED}, and the name of each setting.",
        long_tests=("tests/simulation/test_coverage.py", "tests/simulation/test_covariates.py", "tests/simulation/test_regression.py"),
        measure=measured.intervals,
    ),
    Promise(
        name="live-words",
        title="Sentences on the live page are true at every look",
        promise="A sentence on the page of a running study is wrong at some look in at most 5 % of studies, however often it is read.",
        ran="The page’s own words are read after every look of 2,000 simulated studies of each kind. The control reads those of the "
        "ordinary test as often.",
        tests=("tests/simulation/test_live_words.py",),
        controls=("tests/simulation/test_live_words.py::test_words_for_one_look_are_wrong_far_more_often",),
    ),
    Promise(
        name="die",
        title="The die stays in the page",
        promise="Nothing that leaves the browser, and nothing that stays stored in it, depends on what the die showed.",
        ran="A real Chromium walks the real journey with every face. Requests, cookies and stored values are compared byte by byte. The "
        "controls are pages that leak on purpose.",
        tests=(
            "tests/browser/test_die_secrecy.py::test_no_face_makes_a_difference_that_can_be_noticed_outside_the_page",
            "tests/browser/test_die_secrecy.py::test_a_die_that_rolls_longer_for_some_faces_is_noticed",
        ),
        long_tests=("tests/browser/test_die_secrecy.py", "tests/browser/test_circle_secrecy.py"),
        controls=(
            "tests/browser/test_die_secrecy.py::test_a_die_that_rolls_longer_for_some_faces_is_noticed",
            "tests/browser/test_die_secrecy.py::test_a_leak_is_noticed",
            "tests/browser/test_circle_secrecy.py::test_a_leak_is_noticed",
        ),
    ),
    Promise(
        name="linkage",
        title="A stolen database names nobody",
        promise="Nothing in the database, its system columns and its files included, leads from a person’s code to their answers.",
        ran="The linkage fuzzer joins every two tables on every column and compares every two orders. On two hosts with two workers, "
        "PgBouncer and push it also has every log, Redis, what push said, and the moment at which each person finished. The controls are "
        "the bookkeeping of the first version, and planted leaks.",
        seeds="1 for the people; the order of rows is drawn by the operating system, as in use.",
        tests=(
            "tests/integration/test_linkage.py",
            "tests/audits/test_no_linked_records.py::test_no_table_joins_codes_or_panel_numbers_with_answers",
            "tests/audits/test_no_linked_records.py::test_the_audit_sees_a_table_that_joins_them",
        ),
        long_tests=(
            "tests/audits/test_no_linked_records.py",
            "tests/integration/test_order_of_arrival.py",
            "tests/integration/test_linkage_of_credit.py",
            "tests/integration/test_two_hosts.py::test_nothing_on_two_hosts_leads_from_panel_numbers_to_answers",
            "tests/integration/test_two_hosts.py::test_a_version_for_each_finisher_is_caught",
        ),
        controls=(
            "tests/integration/test_linkage.py::test_the_attacks_name_people_of_the_first_version_on_postgresql",
            "tests/integration/test_linkage.py::test_the_attacks_name_people_of_the_first_version_on_sqlite",
            "tests/integration/test_linkage.py::test_the_attacks_see",
            "tests/integration/test_two_hosts.py::test_a_version_for_each_finisher_is_caught",
            "tests/integration/test_linkage_of_credit.py::test_the_attacks_find_a_token_that_is_kept_on_both_sides",
            "tests/integration/test_linkage_of_credit.py::test_the_attacks_find_credit_that_goes_in_the_order_of_finishing",
            "tests/audits/test_no_linked_records.py::test_the_audit_sees_a_table_that_joins_them",
            "tests/audits/test_no_linked_records.py::test_the_audit_sees_marks_in_pages_streams_archives_and_headers",
        ),
    ),
    Promise(
        name="differencing",
        title="No two shown numbers differ by one person",
        promise="Between two answers of any address, the number of people stays the same or changes by ten or more.",
        ran="Every address is asked as everybody who may ask, before and after single people, withdrawals and releases; and at two hosts, "
        "with somebody who listens to push. The controls are numbers that follow one person.",
        tests=(
            "tests/audits/test_differencing.py::test_any_two_releases_differ_by_nobody_or_ten_people",
            "tests/audits/test_differencing.py::test_releases_of_everybody_would_tell_who_left",
        ),
        long_tests=(
            "tests/audits/test_differencing.py",
            "tests/integration/test_two_hosts.py::test_between_two_people_nothing_moves_on_either_host_and_push_is_silent",
        ),
        controls=(
            "tests/audits/test_differencing.py::test_the_auditor_notices_numbers_that_follow_one_person",
            "tests/audits/test_differencing.py::test_releases_of_everybody_would_tell_who_left",
        ),
    ),
    Promise(
        name="budgets",
        title="Nobody spends more of a privacy budget than was approved",
        promise="However many ask at once, and whichever process dies, no unit beyond the approved budget is spent.",
        ran="64 processes spend at once, workers are killed at every point of an answer, and schedules of asking, drawing and returning "
        "are searched. The control is a ledger that returns budget after drawing.",
        tests=("tests/integration/test_ledger_schedules.py",),
        long_tests=("tests/integration/test_ledger_at_once.py",),
        controls=("tests/integration/test_ledger_schedules.py::test_a_ledger_that_returns_budget_after_drawing_is_caught",),
    ),
    Promise(
        name="faults",
        title="An acknowledged answer is kept, once",
        promise="An answer that the server acknowledged survives killed processes, lost databases and restored back-ups, and counts once.",
        ran="Web, worker, beat, Redis and PostgreSQL are killed or held while bots take part who remember what was acknowledged; a back-up "
        "is restored and checked. The control is a comparison of answers that were lost, doubled and changed on purpose.",
        seeds="None: the moment of each fault depends on the machine.",
        tests=(
            "tests/integration/test_crash.py::test_200_bots_finish_although_web_and_worker_are_killed_in_the_middle",
            "tests/integration/test_crash.py::test_the_comparison_sees_what_is_lost_doubled_or_changed",
        ),
        long_tests=("tests/integration/test_crash.py", "tests/integration/test_drill.py"),
        controls=(
            "tests/integration/test_crash.py::test_the_comparison_sees_what_is_lost_doubled_or_changed",
            "tests/integration/test_drill.py::test_a_folder_without_a_back_up_says_what_was_expected",
        ),
        long_measure=measured.faults,
    ),
    Promise(
        name="records",
        title="Published records keep their k and ℓ",
        promise="Each published student record is shared by at least k students, and a checker that shares no code with the maker says so.",
        ran="Releases of many invented classes are checked by the program that travels with them. The controls are changes that break a "
        "promise, one at a time.",
        tests=("tests/unit/candor/records/test_checking.py",),
        long_tests=("tests/unit/candor/records", "tests/integration/test_attacks_on_records.py"),
        controls=(
            "tests/unit/candor/records/test_checking.py::test_every_change_that_breaks_a_promise_is_caught_and_named",
            "tests/unit/candor/records/test_checking.py::test_a_removed_record_is_caught",
        ),
    ),
    Promise(
        name="packages",
        title="Every published number follows from the published file",
        promise="A data package is as it was signed, to the byte, and its numbers can be computed again without Candor.",
        ran="Every single byte of a package is changed in turn; R computes the numbers of every design again. The controls are the changed "
        "bytes, files and signatures.",
        tests=("tests/unit/candor/packages/test_verification.py",),
        long_tests=("tests/integration/test_package_in_r.py", "tests/browser/test_package_page.py"),
        controls=(
            "tests/unit/candor/packages/test_verification.py::test_every_single_byte_counts",
            "tests/unit/candor/packages/test_verification.py::test_a_file_that_was_replaced_is_named",
            "tests/integration/test_package_in_r.py::test_a_changed_byte_in_any_file_is_told",
            "tests/browser/test_package_page.py::test_a_changed_byte_in_any_file_is_noticed",
        ),
    ),
    Promise(
        name="log",
        title="What staff did cannot be rewritten unseen",
        promise="A changed, exchanged, added or missing entry of the audit log is found, in the database and in a copy of it anywhere.",
        ran="Logs are changed in every way that somebody with the database could try: these are the controls. An intact log verifies.",
        tests=(
            "tests/integration/test_audit.py::test_an_intact_log_verifies",
            "tests/integration/test_audit.py::test_a_changed_entry_is_located",
            "tests/integration/test_audit.py::test_a_deleted_entry_is_located",
        ),
        long_tests=("tests/integration/test_audit.py", "tests/integration/test_audit_files.py"),
        controls=(
            "tests/integration/test_audit.py::test_a_changed_entry_is_located",
            "tests/integration/test_audit.py::test_a_deleted_entry_is_located",
            "tests/integration/test_audit.py::test_two_entries_that_changed_places_are_located",
            "tests/integration/test_audit.py::test_entries_cut_off_at_the_end_are_missed",
            "tests/integration/test_audit_files.py::test_every_single_byte_of_an_exported_log_counts",
        ),
    ),
    Promise(
        name="permissions",
        title="Nobody reads or does more than their role allows",
        promise="Every address answers everybody as its line in the table of permissions says, and what staff see is stored nowhere.",
        ran="Every address is asked as everybody. The control switches off the part that forbids storing.",
        tests=("tests/contracts/test_nothing_of_staff_is_stored.py",),
        long_tests=("tests/audits/test_permissions.py", "tests/integration/test_blinded_viewer.py"),
        controls=("tests/contracts/test_nothing_of_staff_is_stored.py::test_without_the_middleware_the_walk_finds_pages",),
    ),
    Promise(
        name="security",
        title="The table of security is true",
        promise="Each requirement of OWASP’s ASVS 5.0, levels 1 and 2, has a line that says how it stands; what is held, is held by tests.",
        ran="The tests that docs/security.md names are run; a quick run checks that they exist. The control is a table with names that "
        "lead nowhere. A requirement that is NOT HELD is no failure: it is listed below.",
        tests=("tests/audits/test_security_document.py",),
        long_tests=measured.tests_of_security(),
        controls=("tests/audits/test_security_document.py::test_the_audit_sees_names_that_lead_nowhere",),
        measure=measured.security,
    ),
)
