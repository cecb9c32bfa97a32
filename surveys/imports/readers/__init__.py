"""One reader for each kind of file: the questions that are in it, and the outcome of what no question could carry."""
