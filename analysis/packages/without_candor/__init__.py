"""What checks a package and computes its estimates again without Candor: a page for a browser, and programs."""
