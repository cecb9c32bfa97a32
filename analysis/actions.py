"""Staff actions on a study's results and data, as named in the audit log."""

from audit.actions import register

BLINDED = register("results.blinded", "The arms of a study were hidden behind letters until it is closed")
COMPUTATION_REQUESTED = register("results.computation_requested", "All results of a study were asked to be computed again")
COMPUTATION_STOPPED = register("results.computation_stopped", "A computation of results was stopped")
DIAGNOSED = register("study.diagnosed", "Studies of a design were simulated under ways to cheat and to leave")
DIAGNOSIS_STOPPED = register("study.diagnosis_stopped", "The simulations of a diagnosis were stopped")
DIAGNOSIS_DELETED = register("study.diagnosis_deleted", "A diagnosis was deleted")
TABLE_FETCHED = register("results.table_fetched", "A table of results was downloaded")
RESULTS_FETCHED = register("results.fetched", "Results were fetched by the API; one entry for each person and day")
UNBLINDED = register("results.unblinded", "The arms of a study that was blinded were shown before it was closed")
RELEASE_ROWS_SEEN = register("release.rows_seen", "Rows of data that were not public yet were looked at; one entry for each person and day")
RELEASE_STARTED = register("release.started", "An investigator chose what a release of data is to hold")
RELEASE_REQUESTED = register("release.requested", "An investigator asked the IRB officer to approve a release")
RELEASE_PUBLISHED = register("release.published", "An IRB officer approved a release, and its data became public")
AUXILIARY_CONFIRMED = register("release.auxiliary_confirmed", "An IRB officer confirmed by name answers that are published as they are")
RELEASE_REFUSED = register("release.refused", "An IRB officer refused a release")
RELEASE_DISCARDED = register("release.discarded", "An investigator gave up a release that was not public")
RELEASE_OUTDATED = register("release.outdated", "A release that was not public was deleted because somebody in it withdrew")
DOI_ASKED = register("release.doi_asked", "A DOI was asked of a service for a release, or asked for again")
DOI_RESERVED = register("release.doi_reserved", "A service reserved a DOI for a release")
DOI_MISSED = register("release.doi_missed", "A service that gives DOIs could not do its part; the release goes on without")
DOI_REGISTERED = register("release.doi_registered", "The deposit of a public release was published, and its DOI registered")
DOI_GIVEN_BACK = register("release.doi_given_back", "The reserved DOI of a release that did not become public was given back")
DOI_WITHDRAWN = register("release.doi_withdrawn", "The deposit of a retracted release was marked as retracted")
PUBLISHED_AGAIN = register("release.published_again", "Data were public before a back-up was restored, and are marked as public again")
RETRACTED_AGAIN = register("release.retracted_again", "Data were retracted before a back-up was restored, and are retracted again")
RELEASE_RETRACTED = register("release.retracted", "A public release was retracted and its files deleted")
HIERARCHY_CHANGED = register("records.hierarchy_changed", "A hierarchy of protected records was edited, or the suggested one taken again")
RECORDS_TRIED = register("records.tried", "The loss and the risks of protected records were looked at, for every class size")
RECORD_ROLES_CHANGED = register("records.roles_changed", "Attributes of records that somebody brought got other roles, or were dropped")
RECORD_PACKAGE_STARTED = register("records.package_started", "The owner of records that somebody brought chose how they are protected")
RECORD_PACKAGE_DISCARDED = register("records.package_discarded", "A package of records that was not public was given up")
RECORD_PACKAGE_RETRACTED = register("records.package_retracted", "A public package of records was retracted and its files deleted")
RECORDS_TRIAL_STOPPED = register("records.trial_stopped", "A look at the loss and the risks of protected records was stopped")
QUESTION_ASKED = register("ledger.question_asked", "A question was asked under a privacy budget, and its price was reserved")
CHARGED_AGAIN = register("ledger.charged_again", "Questions answered after a back-up was made were charged again after it was restored")
LIMITED_AGAIN = register(
    "ledger.limited_again", "A privacy budget was frozen or lowered after a back-up was made, and again after it was restored"
)
BUDGET_FROZEN = register("ledger.frozen", "An IRB officer froze a privacy budget: nothing more can be spent")
BUDGET_UNFROZEN = register("ledger.unfrozen", "An IRB officer let a privacy budget be spent again")
BUDGET_LOWERED = register("ledger.lowered", "A privacy budget was made smaller")
SNAPSHOT_AGAIN = register("source.made_again", "The table of a source, which could not be made, was asked for again")
DATA_SET_BROUGHT = register("data_set.brought", "Somebody brought a data set; keys of students and texts were thrown away")
DATA_SET_DESCRIBED = register("data_set.described", "The owner of a data set described anew where its data come from")
DATA_SET_SUBMITTED = register("data_set.submitted", "An IRB officer was asked to approve a data set, its budget and its analysts")
DATA_SET_APPROVED = register("data_set.approved", "An IRB officer approved a data set, its budget and its analysts")
DATA_SET_SENT_BACK = register("data_set.sent_back", "An IRB officer sent a data set back, with a reason")
DATA_SET_TAKEN_BACK = register("data_set.taken_back", "The owner of a data set took the request for its approval back")
DATA_SET_DELETED = register("data_set.deleted", "The rows of a data set were deleted")
ANALYST_INVITED = register("data_set.invited", "Somebody was invited to be an analyst of a data set")
ANALYST_UNINVITED = register("data_set.invitation_withdrawn", "An invitation to be an analyst of a data set was withdrawn")
ANALYST_ACCEPTED = register("data_set.invitation_accepted", "Somebody accepted an invitation to be an analyst of a data set")
ANALYSTS_APPROVED = register("data_set.analysts_approved", "An IRB officer approved further analysts of a data set")
ANALYST_REMOVED = register("data_set.analyst_removed", "An analyst of a data set was removed, or left")
EVIDENCE_INSTALLED = register("evidence.installed", "A report of evidence was put on the public page, at the command line")

# People who did one of these have prepared the data set. They do not decide about it, even if they have another role by now, or left it.
# Those who asked about it do not either. Charges name them, which come back after a restore, as the log of the days since does not.
PREPARATION = (
    DATA_SET_BROUGHT,
    DATA_SET_DESCRIBED,
    DATA_SET_SUBMITTED,
    ANALYST_INVITED,
    RECORD_ROLES_CHANGED,
    HIERARCHY_CHANGED,
    RECORD_PACKAGE_STARTED,
)
# The same of a study's releases, which publish what was asked about it.
PREPARATION_OF_RELEASES = (RELEASE_STARTED, RELEASE_REQUESTED, HIERARCHY_CHANGED)
