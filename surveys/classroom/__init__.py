"""A class that tries the die together: a room for one lesson, whose students answer a harmless question on their telephones."""
