"""The declared value that most people have: its name alone, no count."""
