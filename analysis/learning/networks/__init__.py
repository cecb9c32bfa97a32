"""Who learns with whom: the releases about circles, as questions of the ledger and as a page."""
