"""Objective perturbation, corrected: for comparison, not for release."""
