"""Numbers of people, results, runs, plans, figures and tables for programs, with the same blinding as on the pages."""
