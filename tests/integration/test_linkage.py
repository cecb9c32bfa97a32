"""A stolen database names nobody: every pair of tables is joined on every column, and every two orders are compared."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.linkage.as_before import as_before
from tests.linkage.attack import Copy, findings
from tests.linkage.copies import copy_of_postgresql, copy_of_sqlite
from tests.linkage.journeys import STAGES, Truth, in_stages
from tests.processes import ROOT

PEOPLE = 150


def found_on_postgresql(*, seed: int, stages: tuple[str, ...] = STAGES) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}

    def look(stage: str, truths: Mapping[str, Truth]) -> None:
        if stage in stages:
            copy = copy_of_postgresql()
            for kind, truth in truths.items():
                assert set(truth) <= copy.people.keys(), "everybody who came is in the book or in a table"
                assert set(truth.values()) <= copy.answers.keys()
                found[f"{kind}, {stage}"] = findings(copy, truth)

    in_stages(look, seed=seed)
    return found


def test_nothing_in_postgresql_leads_from_codes_and_panel_numbers_to_answers(postgresql: None) -> None:
    found = found_on_postgresql(seed=1)
    assert len(found) == 2 * len(STAGES)
    assert {where: attacks for where, attacks in found.items() if attacks} == {}


def test_the_attacks_name_people_of_the_first_version_on_postgresql(postgresql: None) -> None:
    with as_before():
        found = found_on_postgresql(seed=1, stages=("at once",))
    assert [attack for attack in found["prolific, at once"] if "surveys_panelmember.xmin = surveys_response.xmin: 1" in attack], found
    assert [attack for attack in found["codes, at once"] if attack.startswith("sorted by surveys_entrycode.xmin")], found


def walked_embedded(folder: Path, migrated: Path, *options: str) -> tuple[dict[str, dict[str, list[str]]], dict[str, int]]:
    """The findings in the files of an embedded installation, by stage and kind of study; the bytes in its write-ahead log."""
    var, copies = folder / "var", folder / "copies"
    shutil.copytree(migrated, var)
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY")}
    environment = {
        **kept,
        "CANDOR_VAR": str(var),
        "DJANGO_SETTINGS_MODULE": "config.settings.development",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "platform")]),
    }
    command = [sys.executable, "-m", "tests.linkage", str(copies), *options]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, list[str]]] = {}
    logs: dict[str, int] = {}
    for stage in STAGES:
        kept_files = copies / stage.replace(" ", "-")
        truths = json.loads((kept_files / "truth.json").read_text())
        [log] = kept_files.glob("*-wal")
        logs[stage] = log.stat().st_size
        copy = copy_of_sqlite(kept_files)
        found[stage] = {kind: findings(copy, truth) for kind, truth in truths.items()}
    return found, logs


def test_nothing_in_the_files_of_sqlite_leads_from_codes_and_panel_numbers_to_answers(tmp_path: Path, migrated_folder: Path) -> None:
    found, logs = walked_embedded(tmp_path, migrated_folder)
    assert {stage: attacks for stage, attacks in found.items() if any(attacks.values())} == {}
    assert logs == dict.fromkeys(STAGES, 0), "the log is emptied with each withdrawal, batch, hour and night"


def test_the_attacks_name_people_of_the_first_version_on_sqlite(tmp_path: Path, migrated_folder: Path) -> None:
    found, _logs = walked_embedded(tmp_path, migrated_folder, "--as-before")
    assert any("sorted by surveys_panelmember.place and surveys_participant.place" in attack for attack in found["at once"]["prolific"])


@cache
def unrelated() -> tuple[Copy, Truth]:
    rng = random.Random(7)
    people = {f"person {number}": {"people.random": rng.random(), "people.kind": number % 3} for number in range(PEOPLE)}
    keys = [f"{rng.getrandbits(64):x}" for _ in range(PEOPLE)]
    answers = {key: {"answers.random": rng.random(), "answers.kind": number % 3} for number, key in enumerate(keys)}
    return Copy(people=people, answers=answers), dict(zip(people, rng.sample(keys, PEOPLE), strict=True))


def test_chance_alone_is_no_finding() -> None:
    assert findings(*unrelated()) == []


@pytest.mark.parametrize("leak", ["a sequence", "a time to the second", "an order within five minutes", "a key by way of a third table"])
def test_the_attacks_see(leak: str) -> None:
    copy, truth = unrelated()
    rng = random.Random(8)
    people, answers = ({key: dict(row) for key, row in rows.items()} for rows in (copy.people, copy.answers))
    links = []
    for number, (person, key) in enumerate(truth.items()):
        seconds = 60 * number + rng.randrange(40)
        match leak:
            case "a sequence":
                people[person]["leak"] = answers[key]["leak"] = number
            case "a time to the second":
                people[person]["leak"] = answers[key]["leak"] = f"2026-01-01 {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
            case "an order within five minutes":
                people[person]["leak"], answers[key]["leak"] = seconds, seconds + rng.randrange(300)
            case _:
                people[person]["leak"], answers[key]["leak"] = f"a{number}", f"b{number}"
                links.append({"one": f"a{number}", "other": f"b{number}"})
    assert findings(Copy(people=people, answers=answers, others={"links": links}), truth)
