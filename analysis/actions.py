"""What the desk may do to a study's results, as named in the audit log."""

from audit.actions import register

BLINDED = register("results.blinded", "The arms of a study were hidden behind letters until it is closed")
COMPUTATION_REQUESTED = register("results.computation_requested", "All results of a study were asked to be computed again")
COMPUTATION_STOPPED = register("results.computation_stopped", "A computation of results was stopped")
TABLE_FETCHED = register("results.table_fetched", "A table of results was downloaded")
RESULTS_FETCHED = register("results.fetched", "Results were fetched by the API; one entry for each person and day")
UNBLINDED = register("results.unblinded", "The arms of a study that was blinded were shown before it was closed")
