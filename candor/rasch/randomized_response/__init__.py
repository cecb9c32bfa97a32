"""Each answer of a quiz by randomised response: a baseline, in which nobody has to be trusted and hardly anything is learned."""
