"""Sensitive questions with two to six answers: estimates, plans and dice."""
