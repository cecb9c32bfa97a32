"""Run ``python -m candor.cli``."""

from candor.cli import main

if __name__ == "__main__":
    main(prog_name="candor")
