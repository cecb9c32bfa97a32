"""People who have not agreed to take part yet."""
