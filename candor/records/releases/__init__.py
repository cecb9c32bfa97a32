"""What concerns several releases of the same records."""
