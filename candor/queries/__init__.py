"""Statistical questions about a frozen table, answered with noise."""
