"""Arms in the making: changes of what they show, their files, and the inputs of the builder."""
