"""The part of `who_may_enter.py` about data sets."""

from typing import Any

from tests.audits.who_may_enter import LOGIN, NO, OUT

# Status of a GET, for:               nobody  owner   editor  viewer  blinded colleag officer analyst administrator
# An approved data set that `owner` brought; nobody else but the officer and the administrator has a part in it.
OF_A_DATA_SET: dict[str, tuple[Any, ...]] = {
    "analysis:data_set":               (LOGIN,  200,    404,    404,    404,    404,    200,    404,    200),
    "analysis:data_set_difficulties":  (LOGIN,  200,    404,    404,    404,    404,    200,    404,    200),
    "analysis:data_set_difficulties_file":(LOGIN,404,   404,    404,    404,    404,    404,    404,    404),
    "analysis:data_set_questions":     (LOGIN,  200,    404,    404,    404,    404,    404,    404,    200),
    "analysis:data_set_topics":        (LOGIN,  200,    404,    404,    404,    404,    200,    404,    200),
    "analysis:data_set_ledger":        (LOGIN,  200,    404,    404,    404,    404,    200,    404,    200),
    "analysis:api_data_set":           (NO,     200,    404,    404,    404,    404,    200,    404,    200),
    "analysis:api_data_set_questions": (NO,     200,    404,    404,    404,    404,    404,    404,    200),
    "analysis:api_data_set_preview":   (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_data_set_difficulties":(NO,   200,    404,    404,    404,    404,    200,    404,    200),
    "analysis:api_data_set_preview_difficulties":(NO,405,405,   405,    405,    405,    405,    405,    405),
    "analysis:api_data_set_topics":    (NO,     200,    404,    404,    404,    404,    404,    404,    200),
    "analysis:api_data_set_preview_topics":(NO, 405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_data_set_ledger":    (NO,     200,    404,    404,    404,    404,    200,    404,    200),
    "analysis:api_data_set_table_made_again":(NO,405,   405,    405,    405,    405,    405,    405,    405),
    "analysis:api_data_set_frozen":    (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_data_set_step":    (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_data_set_people":  (NO,     200,    404,    404,    404,    404,    200,    404,    200),
    "analysis:api_data_set_person":  (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_waiting_analyst_invitation":(NO,     405,    405,    405,    405,    405,    405,    405,    405),
    # These are there for a data set of records alone.
    "analysis:api_record_set_or_query":(NO,     404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_record_set_step":  (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:data_set_records":       (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:data_set_records_or_query": (LOGIN, 404,  404,    404,    404,    404,    404,    404,    404),
    "analysis:public_records":         (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:public_records_package": (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_record_set":         (NO,     404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_record_roles":       (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_record_hierarchy":   (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_stop_record_set":    (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_confirm_record_set": (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_build_record_set":   (NO,     405,    405,    405,    405,    405,    405,    405,    405),
}  # fmt: skip
# The same for records that `owner` brought and an officer approved: their page and package are everybody's.
OF_A_RECORD_SET: dict[str, tuple[Any, ...]] = {
    **{name: line for name, line in OF_A_DATA_SET.items() if line[1] in (404, 405)},
    "analysis:data_set":               (LOGIN,  OUT,    404,    404,    404,    404,    OUT,    404,    OUT),
    "analysis:data_set_difficulties":  (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:data_set_questions":     (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:data_set_topics":        (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:data_set_ledger":        (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_data_set_questions": (NO,     404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_data_set_difficulties":(NO,   404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_data_set_topics":    (NO,     404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_data_set_ledger":    (NO,     404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_data_set":           (NO,     200,    404,    404,    404,    404,    200,    404,    200),
    "analysis:data_set_records":       (LOGIN,  200,    404,    404,    404,    404,    200,    404,    200),
    "analysis:data_set_records_or_query": (LOGIN, 200,  404,    404,    404,    404,    404,    404,    404),
    "analysis:public_records":         (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "analysis:public_records_package": (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "analysis:api_data_set_people":  (NO,     404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_record_set_or_query":(NO,     200,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_record_set":         (NO,     200,    404,    404,    404,    404,    200,    404,    200),
}  # fmt: skip
DATA_SET_OPEN_TO_ITS_ANALYST = {"analysis:data_set", "analysis:data_set_questions", "analysis:data_set_topics", "analysis:api_data_set"}
DATA_SET_OPEN_TO_ITS_ANALYST |= {"analysis:api_data_set_questions", "analysis:api_data_set_topics"}
