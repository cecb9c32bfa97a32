"""How many public classes are close, mixed or open."""
