"""Data sets that somebody brings: a file becomes a frozen table, an IRB officer approves its budget and its analysts."""
