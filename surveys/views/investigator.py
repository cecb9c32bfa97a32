"""The investigator's and the officer's pages about studies."""
