"""Every address × everybody who may ask for it. An address that is missing from the tables below fails the audit."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from accounts.models import Role, User
from accounts.services import create_user
from surveys.models import MemberRole, Study, StudyMember
from surveys.studies.services import create_study
from surveys.study_file import read_study_file
from tests.data_sets import approved
from tests.factories import recruiting_study

pytestmark = pytest.mark.django_db

VISITORS = ("nobody", "owner", "editor", "viewer", "blinded", "colleague", "officer", "analyst", "administrator")
MEMBERS = {"editor": MemberRole.EDITOR, "viewer": MemberRole.VIEWER, "blinded": MemberRole.BLINDED_VIEWER}
ROLES = {
    "owner": Role.INVESTIGATOR,
    "editor": Role.ANALYST,  # like the next two a member of the owner's study, whom their role alone would not let in
    "viewer": Role.ANALYST,
    "blinded": Role.ANALYST,
    "colleague": Role.INVESTIGATOR,
    "officer": Role.IRB_OFFICER,
    "analyst": Role.ANALYST,
    "administrator": Role.ADMINISTRATOR,
}
LOGIN = "login"
"""Sent to the login page."""
NO = 401
"""A program is told to show a token."""
OUT = "out"
"""Sent elsewhere: after logging out, or because there is no reason to log in again."""
REFUSED = (LOGIN, NO, 403, 404)

# Status of a GET, for:               nobody  owner   editor  viewer  blinded colleag officer analyst administrator
EVERYWHERE: dict[str, tuple[Any, ...]] = {
    "favicon":                         (OUT,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT),
    "home":                            (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "account_login":                   (200,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT),
    "account_logout":                  (405,    405,    405,    405,    405,    405,    405,    405,    405),
    "account":                         (LOGIN,  200,    200,    200,    200,    200,    200,    200,    200),
    "log_out_elsewhere":               (LOGIN,  405,    405,    405,    405,    405,    405,    405,    405),
    "account_language":                (LOGIN,  405,    405,    405,    405,    405,    405,    405,    405),
    "account_notices":                 (LOGIN,  405,    405,    405,    405,    405,    405,    405,    405),
    "account_inactive":                (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "account_signup":                  (200,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT),
    # Nobody in these tests has a password, so nobody can confirm it.
    "account_reauthenticate":          (LOGIN,  403,    403,    403,    403,    403,    403,    403,    403),
    "account_change_password":         (LOGIN,  OUT,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT),
    "account_set_password":            (LOGIN,  200,    200,    200,    200,    200,    200,    200,    200),
    "account_reset_password":          (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "mfa_authenticate":                (LOGIN,  OUT,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT),
    "mfa_reauthenticate":              (LOGIN,  403,    403,    403,    403,    403,    403,    403,    403),
    "mfa_index":                       (LOGIN,  200,    200,    200,    200,    200,    200,    200,    200),
    "mfa_activate_totp":               (LOGIN,  200,    200,    200,    200,    200,    200,    200,    200),
    "mfa_deactivate_totp":             (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "mfa_view_recovery_codes":         (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "mfa_generate_recovery_codes":     (LOGIN,  200,    200,    200,    200,    200,    200,    200,    200),
    "mfa_download_recovery_codes":     (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "work":                            (LOGIN,  403,    403,    403,    403,    403,    403,    403,    200),
    "admin_door":                      (LOGIN,  403,    403,    403,    403,    403,    403,    403,    403),
    "surveys:studies":                 (LOGIN,  200,    200,    200,    200,    200,    200,    200,    200),
    "surveys:new_study":               (LOGIN,  200,    403,    403,    403,    200,    403,    403,    200),
    "surveys:import_study":            (LOGIN,  200,    403,    403,    403,    200,    403,    403,    200),
    "surveys:build_preview":           (LOGIN,  405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:plan":                   (LOGIN,  200,    403,    403,    403,    200,    200,    403,    200),
    "first_page":                      (LOGIN,  OUT,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT,    OUT),
    "analysis:inbox":                  (LOGIN,  200,    200,    200,    200,    200,    200,    200,    200),
    "analysis:api_review_queue":       (NO,     403,    403,    403,    403,    403,    200,    403,    403),
    "surveys:privacy_limit":           (LOGIN,  403,    403,    403,    403,    403,    200,    403,    403),
    "surveys:api_privacy_limit":       (NO,     403,    403,    403,    403,    403,    200,    403,    403),
    "schema":                          (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "surveys:api_studies":             (NO,     200,    200,    200,    200,    200,    200,    200,    200),
    "surveys:invitation":              (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:new_account":             (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:data_set_invitation":    (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:data_set_account":       (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:log":                     (LOGIN,  403,    403,    403,    403,    403,    200,    403,    200),
    "surveys:verify_log":              (LOGIN,  403,    403,    403,    403,    403,    405,    403,    405),
    "surveys:export_log":              (LOGIN,  403,    403,    403,    403,    403,    200,    403,    200),
    "surveys:api_log":                 (NO,     403,    403,    403,    403,    403,    200,    403,    200),
    "surveys:api_verify_log":          (NO,     403,    403,    403,    403,    403,    405,    403,    405),
    "surveys:api_export_log":          (NO,     403,    403,    403,    403,    403,    200,    403,    200),
    "analysis:api_power":              (NO,     405,    403,    403,    403,    405,    405,    403,    405),
    "analysis:public_releases":        (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "surveys:log_heads":               (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "analysis:signing_keys":           (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "analysis:api_releases":           (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "account_tokens":                  (LOGIN,  200,    200,    200,    200,    200,    200,    200,    200),
    "analysis:methods_page":           (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "analysis:data_sets":              (LOGIN,  200,    200,    200,    200,    200,    200,    200,    200),
    "analysis:bring_data":             (LOGIN,  200,    403,    403,    403,    200,    403,    403,    200),
    "analysis:api_data_sets":          (NO,     200,    200,    200,    200,    200,    200,    200,    200),
    "surveys:two_worlds":              (200,    200,    200,    200,    200,    200,    200,    200,    200),
}  # fmt: skip
# Addresses that exist only where a mail server is configured.
WITH_MAIL: dict[str, tuple[Any, ...]] = {
    "account_reset_password_done":     (200, 200, 200, 200, 200, 200, 200, 200, 200),
    "account_reset_password_from_key_done":(200, 200, 200, 200, 200, 200, 200, 200, 200),
    # A secret that was never sent: the page says so, without a form.
    "account_reset_password_from_key": (200, 200, 200, 200, 200, 200, 200, 200, 200),
}  # fmt: skip
# The same for the addresses of one study, which belongs to `owner`; once it recruits …
RECRUITING: dict[str, tuple[Any, ...]] = {
    "surveys:journey":                 (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "surveys:progress":                (405,    405,    405,    405,    405,    405,    405,    405,    405),
    "surveys:resume":                  (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:begin_anew":              (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "surveys:withdraw":                (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "surveys:consent_copy":            (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "surveys:transparency":            (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "surveys:privacy":                 (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "surveys:allocation":              (200,    200,    200,    200,    200,    200,    200,    200,    200),
    "surveys:allocation_list":         (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:media":                   (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:study":                   (LOGIN,  200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:preview":                 (LOGIN,  200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:preview_media":           (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:build":                   (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_about":             (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_consent":           (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "analysis:build_die":              (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_allocation":        (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_subgroups":         (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_direct":            (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_arms":              (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_arm":               (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_background":        (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_redcap":            (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_quiz":              (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_questions":         (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_add":               (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_item":              (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_tests":             (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "analysis:build_budget":           (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "analysis:analytics":              (LOGIN,  200,    200,    200,    200,    404,    200,    404,    200),
    "analysis:analytics_networks":     (LOGIN,  200,    200,    200,    200,    404,    200,    404,    200),
    "analysis:analytics_difficulties": (LOGIN,  200,    200,    200,    200,    404,    200,    404,    200),
    "analysis:analytics_difficulties_file":(LOGIN, 404, 404,    404,    404,    404,    404,    404,    404),
    "analysis:api_analytics_difficulties":(NO,  404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_preview_difficulties":(NO,    405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:feedback":               (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:outlook":                (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:analytics_questions":    (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "analysis:api_analytics_questions":(NO,     404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_analytics_preview":  (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:analytics_ledger":       (LOGIN,  200,    200,    404,    404,    404,    200,    404,    200),
    "analysis:api_analytics_ledger":   (NO,     200,    200,    404,    404,    404,    200,    404,    200),
    "analysis:api_analytics_frozen":   (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "surveys:build_plans":             (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_file":              (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:build_archive":           (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:duplicate_study":         (LOGIN,  200,    403,    403,    403,    404,    403,    403,    200),
    "surveys:build_debrief":           (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:action":                  (LOGIN,  OUT,    OUT,    OUT,    OUT,    404,    OUT,    404,    OUT),
    "surveys:protocol":                (LOGIN,  200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:protocol_version":        (LOGIN,  200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:protocol_changes":        (LOGIN,  200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:protocol_preregistration":(LOGIN,  200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:protocol_preregistration_version":(LOGIN,200,200,  200,    200,    404,    200,    404,    200),
    "surveys:protocol_preregistration_file":(LOGIN,200, 200,    200,    200,    404,    200,    404,    200),
    "surveys:api_preregistration":     (NO,     200,    200,    200,    200,    404,    200,    404,    200),
    "analysis:results_preregistration":(LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:api_preregistration_report":(NO,  200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:review":                  (LOGIN,  200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:comment":                 (LOGIN,  405,    405,    405,    405,    405,    405,    405,    405),
    "surveys:codes":                   (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:study_link_qr":           (LOGIN,  200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:study_log":               (LOGIN,  200,    200,    404,    404,    404,    200,    404,    200),
    "surveys:export_study_log":        (LOGIN,  200,    200,    404,    404,    404,    200,    404,    200),
    "surveys:api_study_log":           (NO,     200,    200,    404,    404,    404,    200,    404,    200),
    "surveys:api_export_study_log":    (NO,     200,    200,    404,    404,    404,    200,    404,    200),
    "surveys:words":                   (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "analysis:rehearsal":              (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "analysis:diagnosis":              (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:forget":                  (LOGIN,  200,    404,    404,    404,    404,    404,    404,    200),
    "analysis:results":                (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:people":                  (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:compute":                (LOGIN,  405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:blinding":               (LOGIN,  405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:figure":                 (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:table":                  (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:study_plan":             (LOGIN,  200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:api_study":               (NO,     200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:api_action":              (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_counts":             (NO,     200,    200,    200,    200,    404,    200,    404,    200),
    "analysis:api_results":            (NO,     200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:api_runs":               (NO,     200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:api_definition":          (NO,     200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:api_translations":        (NO,     200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:api_media":               (NO,     200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:api_codes":               (NO,     200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:api_make_codes":          (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "surveys:api_completion_codes":    (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "surveys:api_arms":                (NO,     200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:api_arm":                 (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_cancel_run":         (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_blinding":           (NO,     200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:api_files":              (NO,     200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:api_figure":             (NO,     200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:api_table":              (NO,     200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:releases":               (LOGIN,  200,    200,    200,    200,    404,    200,    404,    200),
    "analysis:releases_one":           (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:public_study_releases":  (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:public_release":         (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:public_package":         (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_release":            (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_release_package":    (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:api_protocol":            (NO,     200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:api_protocol_changes":    (NO,     200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:api_review":              (NO,     200,    200,    200,    200,    404,    200,    404,    200),
    "surveys:api_comment":             (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_rehearsal":          (NO,     200,    200,    404,    404,    404,    404,    404,    200),
    "analysis:api_stop_rehearsal":     (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "analysis:api_diagnosis":          (NO,     200,    200,    404,    404,    404,    404,    404,    200),
    "analysis:api_stop_diagnosis":     (NO,     405,    405,    405,    405,    405,    405,    405,    405),
    "webhooks:webhooks":               (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "webhooks:api_webhooks":           (NO,     200,    200,    404,    404,    404,    404,    404,    200),
    "webhooks:api_webhook":            (NO,     404,    404,    404,    404,    404,    404,    404,    404),
    "webhooks:api_deliveries":         (NO,     404,    404,    404,    404,    404,    404,    404,    404),
    "webhooks:api_send_again":         (NO,     405,    405,    405,    405,    405,    405,    405,    405),
}  # fmt: skip
# … and what differs while it is a draft, which only its owner, members and administrators see.
DRAFT = RECRUITING | {
    "surveys:journey":                 (403,    403,    403,    403,    403,    403,    403,    403,    403),
    "surveys:consent_copy":            (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:transparency":            (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:privacy":                 (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:allocation":              (404,    404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:study":                   (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:preview":                 (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:analytics":              (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:analytics_networks":     (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:analytics_difficulties": (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:analytics_ledger":       (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "analysis:api_analytics_ledger":   (NO,     200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:study_link_qr":           (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:action":                  (LOGIN,  OUT,    OUT,    OUT,    OUT,    404,    404,    404,    OUT),
    "surveys:protocol":                (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:protocol_version":        (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:protocol_changes":        (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:protocol_preregistration":(LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:protocol_preregistration_version":(LOGIN,404,404,  404,    404,    404,    404,    404,    404),
    "surveys:protocol_preregistration_file":(LOGIN,404, 404,    404,    404,    404,    404,    404,    404),
    "surveys:api_preregistration":     (NO,     200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:review":                  (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:study_log":               (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:export_study_log":        (LOGIN,  200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:api_study_log":           (NO,     200,    200,    404,    404,    404,    404,    404,    200),
    "surveys:api_export_study_log":    (NO,     200,    200,    404,    404,    404,    404,    404,    200),
    "analysis:figure":                 (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:table":                  (LOGIN,  404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:study_plan":             (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:api_study":               (NO,     200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:api_counts":             (NO,     200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:api_definition":          (NO,     200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:api_media":               (NO,     200,    200,    200,    200,    404,    404,    404,    200),
    "analysis:api_figure":             (NO,     404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_table":              (NO,     404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:releases":               (LOGIN,  200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:api_protocol":            (NO,     200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:api_protocol_changes":    (NO,     200,    200,    200,    200,    404,    404,    404,    200),
    "surveys:api_review":              (NO,     200,    200,    200,    200,    404,    404,    404,    200),
}  # fmt: skip
# Status of a POST at the addresses that take nothing else, while the study recruits.
SENT: dict[str, tuple[Any, ...]] = {
    "surveys:api_make_codes":          (NO,     415,    415,    404,    404,    404,    404,    404,    415),
    "analysis:compute":                (LOGIN,  OUT,    OUT,    404,    404,    404,    404,    404,    OUT),
    "analysis:blinding":               (LOGIN,  OUT,    OUT,    404,    404,    404,    404,    404,    OUT),
    "analysis:api_preview_difficulties":(NO,    404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_analytics_preview":  (NO,     404,    404,    404,    404,    404,    404,    404,    404),
    "analysis:api_analytics_frozen":   (NO,     404,    404,    404,    404,    404,    404,    404,    404),
    "surveys:api_action":              (NO,     409,    409,    409,    409,    404,    409,    404,    409),
    "surveys:comment":                 (LOGIN,  OUT,    OUT,    OUT,    OUT,    404,    OUT,    404,    OUT),
    "surveys:api_comment":             (NO,     415,    415,    415,    415,    404,    415,    404,    415),
    "analysis:api_stop_rehearsal":     (NO,     200,    200,    404,    404,    404,    404,    404,    200),
    "analysis:api_stop_diagnosis":     (NO,     200,    200,    404,    404,    404,    404,    404,    200),
}  # fmt: skip
# An analyst of the study gets at each of its addresses what somebody with no part in it gets, but at these.
OPEN_TO_ITS_ANALYST: dict[str, Any] = {
    "analysis:analytics": 200,
    "analysis:analytics_networks": 200,
    "analysis:analytics_questions": 200,
}
# The same for an approved data set that `owner` brought; nobody else but the officer and the administrator has a part in it.
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
    "analysis:api_data_set_frozen":    (NO,     405,    405,    405,    405,    405,    405,    405,    405),
}  # fmt: skip
DATA_SET_OPEN_TO_ITS_ANALYST = {"analysis:data_set", "analysis:data_set_questions", "analysis:data_set_topics", "analysis:api_data_set"}
DATA_SET_OPEN_TO_ITS_ANALYST |= {"analysis:api_data_set_questions", "analysis:api_data_set_topics"}
ARGUMENTS = {
    "data_set": "marks-of-a-course",
    "uidb36": "1",
    "key": "made-up",
    "release_id": 1,
    "part": "background",
    "name": "gender",
    "action": "launch",
    "number": 1,
    "version": 1,
    "token": "unknown",
    "media_id": "00000000-0000-0000-0000-000000000000",
    "figure": "participants",
    "kind": "svg",
    "file_kind": "json",
    "arm": "slides",
    "webhook_id": "00000000-0000-0000-0000-000000000000",
    "delivery_id": "00000000-0000-0000-0000-000000000000",
    "table": "participants",
}
# Django's admin is one rule, not a table: administrators only, but for the door itself.
ADMIN_DOOR = {"admin:login", "admin:logout", "admin:jsi18n"}

SAMPLE = Path(__file__).resolve().parents[2] / "surveys" / "sample"


def routes(patterns: list[URLPattern | URLResolver] | None = None, namespace: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name and the parameters of every address in the URLconf; only the namespace for one without a name."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace)
        else:
            matcher = pattern.pattern
            yield f"{namespace}{pattern.name or ''}", tuple(matcher.converters or matcher.regex.groupindex)


def own_routes() -> dict[str, tuple[str, ...]]:
    return {name: parameters for name, parameters in routes() if not name.startswith("admin:")}


@pytest.fixture
def people() -> dict[str, User]:
    return {name: create_user(username=name, password=None, role=role, may_be_reserved=True) for name, role in ROLES.items()}


@pytest.fixture
def recruiting(people: dict[str, User]) -> Study:
    return shared(recruiting_study(owner=people["owner"]), people)


@pytest.fixture
def draft(people: dict[str, User]) -> Study:
    definition = read_study_file((SAMPLE / "lecture-videos.yaml").read_text())
    study = create_study(definition=definition.model_copy(update={"slug": "still-a-draft"}), owner=people["owner"])
    return shared(study, people)


def shared(study: Study, people: dict[str, User]) -> Study:
    for name, role in MEMBERS.items():
        StudyMember.objects.create(study=study, user=people[name], role=role)
    return study


def client_of(visitor: str, people: dict[str, User]) -> Client:
    client = Client()
    if visitor in people:
        client.force_login(people[visitor])
    return client


def visits_of(visitor: str, people: dict[str, User]) -> Callable[[], Client]:
    """Gives a client as new for each request, with one login: logging in and starting the middleware take longer than most pages."""
    client = client_of(visitor, people)
    cookies = deepcopy(client.cookies)

    def visit() -> Client:
        client.cookies = deepcopy(cookies)
        return client

    return visit


def outcome(response: Any) -> Any:
    """The status, or where a redirection leads."""
    if response.status_code == 302:
        return LOGIN if response["Location"].startswith(("/accounts/login/", "/admin/login/")) else OUT
    return response.status_code


def check(table: dict[str, tuple[Any, ...]], visitor: str, people: dict[str, User], slug: str = "") -> None:
    """Ask for every address of the table; people who are refused a page must not be able to send anything to it either."""
    wrong = []
    visit, parameters_of = visits_of(visitor, people), own_routes()
    for name, outcomes in table.items():
        expected = outcomes[VISITORS.index(visitor) if visitor in VISITORS else 0]
        given = {"slug": slug, **ARGUMENTS}
        address = reverse(name, kwargs={parameter: given[parameter] for parameter in parameters_of[name]})
        found = outcome(visit().get(address))
        if found != expected:
            wrong.append(f"GET {name}: expected {expected}, found {found}")
        if expected in REFUSED and (found := outcome(visit().post(address))) not in (*REFUSED, 405):
            wrong.append(f"POST {name}: expected a refusal, found {found}")
    assert not wrong, f"for {visitor}:\n" + "\n".join(wrong)


def test_every_address_has_a_name_and_a_line() -> None:
    names = own_routes()
    of_a_study = {name for name, parameters in names.items() if "slug" in parameters}
    of_a_data_set = {name for name, parameters in names.items() if "data_set" in parameters}
    assert of_a_data_set == set(OF_A_DATA_SET), "a line in OF_A_DATA_SET for each address of a data set, and no other"
    assert set(names) - of_a_study - of_a_data_set == set(EVERYWHERE), "a line in EVERYWHERE for each address, and no other"
    assert of_a_study == set(RECRUITING), "a line in RECRUITING for each address of a study, and no other"
    assert of_a_study == set(DRAFT), "a line in DRAFT for each address of a study, and no other"
    assert not [name for name in names if not name or name.endswith(":")], "an address has no name"


@pytest.mark.usefixtures("mail_server")
@pytest.mark.parametrize("visitor", VISITORS)
def test_where_mail_can_be_sent(visitor: str, people: dict[str, User]) -> None:
    assert set(own_routes()) == set(EVERYWHERE) | set(RECRUITING) | set(OF_A_DATA_SET) | set(WITH_MAIL)
    check(WITH_MAIL, visitor, people)


@pytest.mark.parametrize("visitor", VISITORS)
def test_everywhere(visitor: str, people: dict[str, User]) -> None:
    check(EVERYWHERE, visitor, people)


@pytest.mark.parametrize("visitor", VISITORS)
def test_a_study_that_recruits(visitor: str, people: dict[str, User], recruiting: Study) -> None:
    check(RECRUITING, visitor, people, recruiting.slug)


@pytest.mark.parametrize("visitor", VISITORS)
def test_posts_to_a_study_that_recruits(visitor: str, people: dict[str, User], recruiting: Study) -> None:
    for name, outcomes in SENT.items():
        given = {"slug": recruiting.slug, **ARGUMENTS}
        address = reverse(name, kwargs={parameter: given[parameter] for parameter in own_routes()[name]})
        assert outcome(client_of(visitor, people).post(address)) == outcomes[VISITORS.index(visitor)], name


@pytest.mark.parametrize("role", [Role.ANALYST, Role.INVESTIGATOR, Role.IRB_OFFICER])
@pytest.mark.parametrize("state", ["recruiting", "draft"])
def test_an_analyst_of_the_study_reaches_the_pages_of_its_budget_alone(
    state: str, role: Role, people: dict[str, User], request: pytest.FixtureRequest
) -> None:
    """An officer who is an analyst here sees no more of it than other analysts."""
    study, table = request.getfixturevalue(state), RECRUITING if state == "recruiting" else DRAFT
    people["invited"] = create_user(username="invited", password=None, role=role, may_be_reserved=True)
    StudyMember.objects.create(study=study, user=people["invited"], role=MemberRole.ANALYST)
    column = VISITORS.index("colleague" if role == Role.INVESTIGATOR else "analyst")
    expected = {name: OPEN_TO_ITS_ANALYST.get(name, outcomes[column]) for name, outcomes in table.items()}
    visit, parameters_of, wrong = visits_of("invited", people), own_routes(), []
    for name, status in expected.items():
        given = {"slug": study.slug, **ARGUMENTS}
        address = reverse(name, kwargs={parameter: given[parameter] for parameter in parameters_of[name]})
        found = outcome(visit().get(address))
        if found != status and {found, status} != {403, 404}:
            wrong.append(f"GET {name}: expected {status}, found {found}")
        if status in REFUSED and (found := outcome(visit().post(address))) not in (*REFUSED, 405):
            wrong.append(f"POST {name}: expected a refusal, found {found}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("visitor", VISITORS)
def test_a_data_set(visitor: str, people: dict[str, User]) -> None:
    absent = {name: (line[0], *((404 if one in (200, 404) else one) for one in line[1:])) for name, line in OF_A_DATA_SET.items()}
    check(absent, visitor, people)
    approved(people["owner"], officer=people["officer"])
    check(OF_A_DATA_SET, visitor, people)


@pytest.mark.parametrize("role", [Role.ANALYST, Role.INVESTIGATOR, Role.IRB_OFFICER])
def test_an_analyst_of_a_data_set_asks_and_sees_no_more(role: Role, people: dict[str, User]) -> None:
    people["invited"] = create_user(username="invited", password=None, role=role, may_be_reserved=True)
    approved(people["owner"], officer=people["officer"], analysts=(people["invited"],))
    column = VISITORS.index("colleague")
    check(
        {name: (200 if name in DATA_SET_OPEN_TO_ITS_ANALYST else line[column],) * len(VISITORS) for name, line in OF_A_DATA_SET.items()},
        "invited",
        people,
    )


@pytest.mark.parametrize("visitor", VISITORS)
def test_a_draft(visitor: str, people: dict[str, User], draft: Study) -> None:
    check(DRAFT, visitor, people, draft.slug)


@pytest.mark.parametrize("visitor", VISITORS)
def test_an_absent_study_is_answered_like_a_forbidden_one(visitor: str, people: dict[str, User]) -> None:
    wrong = []
    visit, parameters_of = visits_of(visitor, people), own_routes()
    for name, outcomes in DRAFT.items():
        given = {"slug": "no-such-study", **ARGUMENTS}
        address = reverse(name, kwargs={parameter: given[parameter] for parameter in parameters_of[name]})
        found, colleague = outcome(visit().get(address)), outcomes[VISITORS.index("colleague")]
        if colleague == 404 and visitor != "nobody" and found not in {403, 404}:
            wrong.append(f"{name}: {found}")
    assert not wrong


@pytest.mark.parametrize("visitor", VISITORS)
def test_the_admin_is_for_administrators(visitor: str, people: dict[str, User]) -> None:
    names = {name: parameters for name, parameters in routes() if name.startswith("admin:") and name not in ADMIN_DOOR | {"admin:"}}
    assert len(names) > 10
    client, wrong = client_of(visitor, people), []
    for name, parameters in names.items():
        values = {"object_id": "1", "id": "1", "app_label": "accounts", "content_type_id": "1"}
        address = reverse(name, kwargs={parameter: values[parameter] for parameter in parameters} or None)
        for method in (client.get, client.post):
            entered = outcome(method(address)) != LOGIN
            if entered != (visitor == "administrator"):
                wrong.append(f"{method.__name__} {name}: {'entered' if entered else 'refused'}")
    assert not wrong, f"for {visitor}:\n" + "\n".join(wrong)
