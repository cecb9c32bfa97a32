"""The invitations of a study: addresses and join codes of its ways in, posters, and letters that are merged in the browser."""
