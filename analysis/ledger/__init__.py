"""Questions to a source, their price, and the one way to an answer: reserve, draw, answer."""
