"""Pages of results and public data read from a copy of the database that is never behind what was written before the request."""
