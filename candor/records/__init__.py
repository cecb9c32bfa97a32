"""Student records and tables that can be published: k of them look alike, and anybody can check it (docs/records.md)."""
