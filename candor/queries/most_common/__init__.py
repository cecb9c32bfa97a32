"""Which declared value most people have: its name alone, no count."""
