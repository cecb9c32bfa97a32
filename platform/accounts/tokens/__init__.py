"""Tokens with which programs use the API."""
