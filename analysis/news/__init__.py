"""News of a study's results for pages that are open: a version, the right to hear of it, and the announcement of a new one."""
