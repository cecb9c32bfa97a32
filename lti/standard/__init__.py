"""The standard: LTI 1.3 with deep linking and grades. Messages in, choices and grades out, keys."""
