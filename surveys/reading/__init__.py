"""Files from outside are read here, each in a process of its own with limits. The readers know neither Django nor the database."""
