"""The diagnosis page: what the study would find, over and over again, if people cheated in one way or another and some left."""
