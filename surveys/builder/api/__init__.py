"""Building a study, for programs."""
