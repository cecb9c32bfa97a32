"""The ``candor`` command: files in, text or JSON out. Needs no database and never imports Django.

Commands are loaded on first use, so that ``candor --help`` does not wait for statistics that it does not need.
"""

from __future__ import annotations

import os

from candor.cli.group import CommandGroup, LazyCommand, version_option

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `candor.resampling.blas_threads`, before a command loads NumPy

main = CommandGroup(
    name="candor",
    help="Robust, private randomised trials: estimate from collected answers, plan a study, simulate one.",
    params=[version_option],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    commands_by_name={
        "estimate": LazyCommand("candor.cli.estimate:estimate", "Estimate the effects on sensitive yes/no outcomes."),
        "regress": LazyCommand("candor.cli.regress:regress", "Regress a sensitive trait on arms and covariates, allowing for cheaters."),
        "plan": LazyCommand("candor.cli.plan:plan", "Power, participants needed, cost of privacy and the best die."),
        "diagnose": LazyCommand("candor.cli.diagnose:diagnose", "The findings of a design when people cheat and leave."),
        "simulate": LazyCommand("candor.cli.simulate:simulate", "Simulate the answers that a trial would collect."),
        "query": LazyCommand("candor.cli.analytics.query:query", "Ask one question about a table, under a privacy budget in a file."),
        "pool": LazyCommand("candor.cli.pool:pool", "Pool the effects of several studies from their data packages."),
        "difficulties": LazyCommand("candor.cli.analytics.difficulties:difficulties", "Difficulties of quiz items, with noise."),
        "topics": LazyCommand("candor.cli.analytics.topics:topics", "Count students by topic and affect of their texts, with noise."),
        "anonymize": LazyCommand("candor.cli.records.anonymize:anonymize", "Student records that can be published: k of them look alike."),
        "check": LazyCommand("candor.cli.records.check:check", "Check that published records keep k and ℓ."),
        "risk": LazyCommand("candor.cli.records.risk:risk", "Risks of published records: linkage, insiders, certain values."),
        "answer": LazyCommand("candor.cli.records.answer:answer", "Counts from published records."),
        "replicate": LazyCommand("candor.cli.replicate:replicate", "Compute the numbers of a data package again, by its own program."),
        "verify": LazyCommand("candor.cli.verify:verify", "Check that a data package is as it was signed."),
    },
)
