"""Simulated participants who walk the real journey: they read the pages that people read, fill in the same forms, and know nothing else."""
