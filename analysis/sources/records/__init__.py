"""Student records that somebody brings: read from files, joined on numbers that are thrown away, and kept by column."""
