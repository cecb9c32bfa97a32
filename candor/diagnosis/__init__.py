"""The findings of a design, over and over again, if people cheated in one way or another and some left."""
