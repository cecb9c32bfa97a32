"""Commands whose answers carry noise."""
