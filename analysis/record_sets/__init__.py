"""Student records that somebody brings: roles, hierarchies, what is possible, a package that an officer approves, and its public page."""
