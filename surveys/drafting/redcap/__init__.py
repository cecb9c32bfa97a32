"""Background questions from a REDCap data dictionary, and as one."""
