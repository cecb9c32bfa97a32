"""Public data: a study's reported answers as a package of files that anybody can check, and the way of it through two people."""
