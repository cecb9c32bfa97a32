"""Programs of a package that check its files and its estimates and need no Candor; they are copied, and never imported."""
