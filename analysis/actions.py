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
RELEASE_REFUSED = register("release.refused", "An IRB officer refused a release")
RELEASE_DISCARDED = register("release.discarded", "An investigator gave up a release that was not public")
RELEASE_OUTDATED = register("release.outdated", "A release that was not public was deleted because somebody in it withdrew")
RELEASE_RETRACTED = register("release.retracted", "A public release was retracted and its files deleted")
