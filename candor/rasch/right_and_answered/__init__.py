"""The release for omitted answers that do not count: how many solved each item, and how many answered it."""
