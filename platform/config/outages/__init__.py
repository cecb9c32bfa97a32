"""What the platform does while something that it needs is away, busy or full."""
