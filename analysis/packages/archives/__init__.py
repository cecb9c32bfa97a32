"""What archives, catalogues and programs of statistics read of a package: its citation, its licence, its study, its labels."""
