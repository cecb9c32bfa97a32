"""How many students wrote about each topic in each week, by affect."""
