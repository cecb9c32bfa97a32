"""The start of every process: short, and with nothing loaded that is not used."""
