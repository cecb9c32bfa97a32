"""Run ``python -m analysis.cli``."""

from analysis.cli import main

if __name__ == "__main__":
    main(prog_name="candor")
