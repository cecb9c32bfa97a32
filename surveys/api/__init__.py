"""Studies for programs: the same selectors and services as the pages, the same guards, the same 404."""
