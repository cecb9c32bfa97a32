"""The Rasch model: how difficult the items of a quiz are, with noise for the public and without it for staff."""
