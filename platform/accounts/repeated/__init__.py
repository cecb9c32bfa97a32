"""Answers that are kept for a day, so that a program may send the same request twice."""
