"""How many people are in each cell: every declared cell is answered, empty ones too."""
