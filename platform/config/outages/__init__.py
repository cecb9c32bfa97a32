"""The platform's conduct while a part that it needs is away, busy or full."""
