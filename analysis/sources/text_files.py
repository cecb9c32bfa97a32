"""Reads a file of students' texts: each becomes a topic and an affect while it is read, and no text comes out.

This module reads files from outside and does without Django; `surveys.reading` runs it.
"""

import base64
import os
import zlib
from collections.abc import Mapping, Sequence
from typing import IO

from analysis.sources.table_files import FEWEST, are_simulated, opened, refused, require_room
from candor.written_keys import key_in
from candor.written_numbers import number_in_digits
from surveys.reading.words import UnreadableError
from surveys.reading.words import sentence as _


def read(
    file: IO[bytes], *, names: Sequence[str], roles: Mapping[str, str], topics: Mapping[str, Sequence[str]], weeks: int, cap: int
) -> dict[str, object]:
    """The labels of at least 20 students, packed: int8 of shape (students, weeks, topics).

    `names` are the columns of the first line; `roles` says which of them is the `student`, the `week` and the `text`.
    """
    names, rows, _delimiter = opened(file, names)
    places = {role: names.index(name) for role, name in roles.items()}
    written: dict[str, dict[int, list[str]]] = {}
    for line, row in rows:
        student, week, text = key_in(row[places["student"]]), row[places["week"]].strip(), row[places["text"]].strip()
        if not student:
            raise refused(line, roles["student"], _("expected a student’s key, found nothing"))
        if not 1 <= (number := number_in_digits(week) or 0) <= weeks:
            raise refused(
                line, roles["week"], _("expected a whole number from 1 to %(weeks)s, found “%(found)s”", weeks=weeks, found=week[:40])
            )
        written.setdefault(student, {}).setdefault(number, []).append(text)
    if len(written) < FEWEST:
        raise UnreadableError(_("expected at least %(fewest)s students, found %(found)s", fewest=FEWEST, found=len(written)))
    simulated = are_simulated(written)
    require_room(len(written) * weeks * len(topics))
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each thread would take a part of the little memory
    from candor.texts.reading import label_students
    from candor.texts.word_lists import WordList

    labels = label_students(written, words=WordList.of(topics), weeks=weeks, cap=cap)
    return {"n": len(labels), "simulated": simulated, "labels": base64.b64encode(zlib.compress(labels.tobytes(), 6)).decode()}
