"""A classifier from tables of a class by each feature, with noise; its accuracy from rows that were set apart in public."""
