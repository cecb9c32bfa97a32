"""Numbers of people, results, runs, plans, figures and tables for programs. What is blinded on the pages is blinded here."""
