"""Logging in: passwords, second factors, single sign-on, and how long a session lasts."""
