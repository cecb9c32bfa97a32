"""The answers to short texts: once a study is closed, in alphabetical order, apart from everything else."""
