"""Preparing protected records: roles, hierarchies, and what is possible with a study's answers."""
