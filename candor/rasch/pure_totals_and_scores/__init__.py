"""The same numbers as the default under pure ε: a cube of noise on the totals, discrete Laplace noise on the scores."""
