"""What a design would find, over and over again, if people cheated in one way or another and some left."""
