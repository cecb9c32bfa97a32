"""Topics and affect of students' texts: labels that are counted with noise, while the texts are thrown away."""
