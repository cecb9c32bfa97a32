"""Topics and affect of students' texts, over a term."""
