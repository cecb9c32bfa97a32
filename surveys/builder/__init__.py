"""The pages on which a study is built."""
