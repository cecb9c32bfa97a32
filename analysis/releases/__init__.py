"""Public data: a study's reported answers as a package of files that anybody can check, and its path through two people."""
