"""The releases about circles (who learns with whom) as questions of the ledger, and their page."""
