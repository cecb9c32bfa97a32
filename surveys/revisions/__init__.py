"""The history of a draft: its versions, what a person can take back, and who else works on it now."""
