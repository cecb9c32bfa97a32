"""A form that asks the ledger, with its cost first, for every page that has one."""
