"""Deposits with services that give DOIs: one interface, and what each service wants to be sent."""
