"""The ``candor`` command: files in, text or JSON out. Needs no database and never imports Django.

A command is loaded when it is used, so that ``candor --help`` does not wait for statistics that it does not need.
"""

from __future__ import annotations

from analysis.cli.group import CommandGroup

main = CommandGroup(
    name="candor",
    help="Robust, private randomised trials: estimate from collected answers, plan a study, simulate one.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    commands_by_name={
        "estimate": "analysis.cli.estimate:estimate",
        "plan": "analysis.cli.plan:plan",
        "simulate": "analysis.cli.simulate:simulate",
    },
)
