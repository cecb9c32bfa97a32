"""Flat tables: local recoding, closeness, anatomy."""
