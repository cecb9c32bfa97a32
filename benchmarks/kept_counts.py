"""The cost of a poll, of the results page and of a new batch, in studies of 10³ to 10⁶ people, who are put there by SQL.

    python -m tests.services python -m benchmarks.kept_counts [--most 1000000]

A fifth of the people stopped half-way. Beside these stand the two counts that grow with a study, for which nobody waits: the numbers of
people on their way, renewed at most once a minute, and the recount that checks what is kept.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable

import click
import django

REPEATED = 5
PEOPLE = """
INSERT INTO surveys_participant (id, study_id, protocol_id, token_hash, withdrawal_hash, language, is_bot, step, subsample, arm, background,
    quiz, page, watched_tenths, consented_on, finished_on, counted, credit)
SELECT gen_random_uuid(), %(study)s, %(protocol)s, md5('t' || %(study)s || '-' || i), md5('w' || %(study)s || '-' || i), 'en', false,
    CASE WHEN i %% 5 = 0 THEN 'video' ELSE 'finished' END, (ARRAY['1', '2'])[1 + i %% 2], (ARRAY['slides', 'instructor'])[1 + (i / 2) %% 2],
    '{}', '{}', 0, 10, current_date - i %% 30, CASE WHEN i %% 5 = 0 THEN NULL ELSE current_date - i %% 30 END, i %% 5 <> 0, ''
FROM generate_series(1, %(people)s) AS i
"""
ANSWERS = """
INSERT INTO surveys_response (id, participant_id, question, reported_yes)
SELECT gen_random_uuid(), p.id, q, random() < (CASE p.subsample WHEN '1' THEN 0.4 ELSE 0.6 END)
FROM surveys_participant AS p, unnest(%(questions)s::text[]) AS q WHERE p.study_id = %(study)s AND p.step = 'finished'
"""
LINES = """
INSERT INTO surveys_allocationslot (study_id, list_id, stratum, position, subsample, arm, status)
SELECT %(study)s, %(list)s, '', i, (ARRAY['1', '2'])[1 + i %% 2], (ARRAY['slides', 'instructor'])[1 + (i / 2) %% 2], 'taken'
FROM generate_series(1, %(people)s) AS i
"""


@click.command()
@click.option("--most", default=1_000_000)
def main(most: int) -> None:
    """Measure and print."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.test")
    sys.path.insert(0, "platform")
    django.setup()
    from django.test.utils import setup_databases, teardown_databases

    databases = setup_databases(verbosity=0, interactive=False)
    try:
        names = ("poll", "page", "batch", "first results", "renewal", "recount")
        click.echo("people, median milliseconds: " + ", ".join(names))
        for people in (10**power for power in range(3, 7) if 10**power <= most):
            found = of_a_study(people)
            click.echo(f"{people:>9,} " + " ".join(f"{1000 * found[name]:>10.1f}" for name in names))
    finally:
        teardown_databases(databases, verbosity=0)


def of_a_study(people: int) -> dict[str, float]:
    """Median seconds of each kind of work in a study of so many people."""
    from django.db import connection
    from django.db.models import F
    from django.test.utils import setup_test_environment, teardown_test_environment
    from django.urls import reverse

    from analysis.runs import runner
    from surveys.batches.services import count_again, count_next_batch, keep_shown_numbers, wrong_counts
    from surveys.protocols import protocol_in_force
    from tests.factories import logged_in, recruiting_study
    from tests.finished_people import TELLING_DIE, add_finished_people, compute

    study = recruiting_study(slug=f"of-{people}", allocation={"planned_participants": 1200, "block_multiples": [1]}, die=TELLING_DIE)
    definition = protocol_in_force(study).definition
    questions = [question.name for question in definition.yes_no_questions]
    values = {"study": study.pk, "protocol": study.protocol_id, "people": people, "questions": questions}
    study.allocation_slots.update(position=F("position") + 10**7)
    with connection.cursor() as cursor:
        cursor.execute(PEOPLE, values)
        cursor.execute(ANSWERS, values)
        cursor.execute(LINES, values | {"list": study.allocation_lists.get().pk})
        cursor.execute("VACUUM ANALYZE")
    count_again(study)
    keep_shown_numbers(study)
    compute(study, runner.RunKind.FIRST_RESULTS)
    setup_test_environment(debug=False)
    client, address = logged_in(study.owner), reverse("analysis:results", args=[study.slug])
    state = client.get(address).context["state"]

    def batch() -> float:
        add_finished_people(study, 150, seed=time.monotonic_ns(), counted=False)
        return timed(lambda: count_next_batch(study))

    try:
        return {
            "poll": median(lambda: client.get(address, {"state": state})),
            "page": median(lambda: client.get(address)),
            "batch": statistics.median(batch() for _ in range(REPEATED)),
            "first results": median(lambda: runner.first_results(study, definition)),
            "renewal": median(lambda: keep_shown_numbers(study)),
            "recount": timed(lambda: wrong_counts(study)),
        }
    finally:
        teardown_test_environment()


def median(act: Callable[[], object]) -> float:
    act()
    return statistics.median(timed(act) for _ in range(REPEATED))


def timed(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
