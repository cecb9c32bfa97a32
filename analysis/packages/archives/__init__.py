"""Files of a package for archives, catalogues and readers: its page for a browser, its citation, its study, its labels."""
