"""Several releases of the same records."""
