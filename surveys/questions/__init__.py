"""The parts of a study's definition that people read or answer, and what is asked before the lecture."""
