"""Traces of staff's requests and of some work, for a monitoring program: off unless the settings ask, and nothing follows a participant."""
