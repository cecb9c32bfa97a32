"""A whole data package from plain values: the sample study, answers drawn with a seed, and what the library computes from them."""

import hashlib
import json
from functools import cache
from typing import Any

import numpy as np

from analysis.packages.archives.study_document import study_document
from analysis.packages.background_counts import Cell
from analysis.packages.content import AllocationList, Content
from analysis.packages.licences import LICENCES
from analysis.packages.package import package_files
from analysis.packages.protocol_document import protocol_document
from analysis.packages.rows import rows_of, shuffled_csv
from candor.packages import replicate
from candor.packages.signing import private_key
from candor.software import software
from surveys.questions.publication import Publication
from tests.factories import definition
from tests.finished_people import TELLING_DIE

SECRET = "a secret for tests"
QUESTIONS = ("attention", "comprehension")


def content(*, people: int = 240, licence: str = "CC-BY-4.0", released: tuple[str, ...] = QUESTIONS, **changes: Any) -> Content:
    """The content of a release as a worker makes it, but without a database; each call draws another order of the rows.

    In the control arm half of the honest people truly give the first category, in the other arms half give the last one.
    """
    study = definition(die=TELLING_DIE, **changes)
    document: dict[str, Any] = protocol_document(
        study, opened_with=study, version=1, sha256="0" * 64, questions=released, consents=[(1, study)]
    )
    design, rng = study.design(), np.random.default_rng(20260301)
    yes_no = [one.name for one in study.yes_no_questions if one.name in released]
    named = [one for one in study.category_questions if one.name in released]
    lines = ["arm,subsample," + ",".join(f"answer_{name}" for name in [*yes_no, *(one.name for one in named)])]
    for number in range(people):
        arm, subsample = number % len(design.arms), number // len(design.arms) % len(design.subsample_names)
        shares = 0.9 * ((0.3 + 0.2 * arm) * design.truth[subsample] + design.forced_yes[subsample])
        answers = [str(int(one)) for one in rng.random(len(yes_no)) < shares]
        for question in named:
            rules = study.category_design(question)
            true = np.full(len(question.answers), 0.5 / (len(question.answers) - 1))
            true[-1 if arm else 0] = 0.5
            answers.append(str(rng.choice(question.answers, p=rules.truth[subsample] * true + rules.forced_answers[subsample])))
        lines.append(f"{design.arms[arm]},{design.subsample_names[subsample]},{','.join(answers)}")
    data = shuffled_csv(rows_of("\n".join(lines) + "\n"), questions=[*yes_no, *(one.name for one in named)])
    resampling = {"replicates": 20, "seed": 1}
    known = {"software": software(), "level": 0.95, "bootstrap": resampling}
    counts = [Cell(question="devices", answer=answer, count=count) for answer, count in (("phone", 40), ("laptop", None))]
    return Content(
        slug=study.slug,
        version=1,
        title="Attention in recorded lectures",
        publication=Publication().with_authors(["Lovelace, Ada", "Hopper, Grace"]),
        year=2026,
        licence=LICENCES[licence],
        site="https://candor.example.org",
        protocol=document,
        study_file=study_document(study, dict.fromkeys(study.files(), "0" * 64)),
        data_csv=data,
        rows=rows_of(data),
        simulated=False,
        bots_left_out=0,
        epsilon=design.epsilon,
        background=counts,
        analytics=None,
        reason_for_exact_counts="",
        smallest_count=5,
        allocation_lists=[AllocationList(number=1, sha256=hashlib.sha256(b"{}").hexdigest(), document="{}")],
        results={**known, **replicate.recomputed(data.splitlines(), document, known)},
    )


@cache
def files() -> dict[str, bytes]:
    """The files of one such package, built once."""
    return package_files(content(), private_key(SECRET))


def with_a_changed_byte(name: str) -> dict[str, bytes]:
    """The files, with another letter in the middle of one."""
    changed = bytearray(files()[name])
    changed[len(changed) // 2] ^= 1
    return {**files(), name: bytes(changed)}


HOSTILE = "\x1b[1A\x1b[2K\nEvery byte is as it was signed.\u202e\x9b2K"
"""Up a line, which is deleted; a line of one's own; all that follows backwards; the last with the one character that also begins a code."""


def with_hostile_names() -> dict[str, bytes]:
    """The files, in which an arm, the text of a question and a file are named so that they write over other lines of a terminal."""
    written, cell = json.dumps(HOSTILE).encode(), f'"{HOSTILE}"'.encode()
    changed = {name: files()[name].replace(b'"instructor"', written) for name in ("protocol.json", "results.json")}
    protocol = json.loads(changed["protocol.json"])
    protocol["questions"][0]["text"] = HOSTILE
    changed["protocol.json"] = json.dumps(protocol).encode()
    changed["data.csv"] = files()["data.csv"].replace(b"instructor", cell)
    named = HOSTILE.replace("\n", "")
    changed["SHA256SUMS"] = files()["SHA256SUMS"] + f"{'0' * 64}  x{named}\n".encode()
    return {**files(), **changed}
