"""What may be asked of a source, what it costs, and the one way to an answer: reserve, draw, answer."""
