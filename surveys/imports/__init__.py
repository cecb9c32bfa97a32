"""Questions from other programs' files, with a report of every attribute; and questions for other programs."""
