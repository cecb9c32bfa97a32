"""Data packages of several studies, as small as `candor.load_package` reads them, signed with keys of two servers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from candor.packages.archive import signed, zip_of
from candor.packages.signing import private_key
from tests.designs import MIRRORED

COUNTS = [[[130, 70], [110, 90]], [[90, 110], [70, 130]]]
KEY = private_key("a secret for tests")
OTHER_KEY = private_key("another secret")


def package(
    name: str,
    counts: Any = COUNTS,
    *,
    arms: Sequence[str] = ("slides", "face"),
    subsamples: Mapping[str, Any] = MIRRORED,
    cheaters: Any = "any",
    question: str = "attention",
    text: str = "Did your attention wander?",
    simulated: bool = False,
    server: str = "a",
    lists: Sequence[str] = (),
) -> Path:
    """Write NAME.zip in this folder."""
    tables = counts if isinstance(counts, Mapping) else {question: counts}
    names = list(tables)
    lines = [",".join(["arm", "subsample", *(f"answer_{one}" for one in names)])]
    for place, table in enumerate(tables.values()):
        for (a, s, answer), people in np.ndenumerate(np.asarray(table)):
            cells = ["", *([""] * len(names))][1:]
            cells[place] = str(answer)
            lines += [",".join([arms[a], list(subsamples)[s], *cells])] * int(people)
    protocol = {
        "study": name,
        "design": {"arms": list(arms), "control": arms[0], "subsamples": subsamples, "cheater_model": cheaters},
        "questions": [{"name": one, "column": f"answer_{one}", "text": text} for one in names],
    }
    files = {
        "data.csv": "\n".join(lines).encode(),
        "protocol.json": json.dumps(protocol).encode(),
        "results.json": b"{}",
        "datapackage.json": json.dumps({"keywords": ["simulated data"] if simulated else []}).encode(),
    }
    if lists:
        files["allocation-proof.txt"] = "\n".join(f"List {place}\nSHA-256: {one}" for place, one in enumerate(lists, start=1)).encode()
    path = Path(f"{name}-{server}.zip")
    path.write_bytes(zip_of(signed(files, KEY if server == "a" else OTHER_KEY)))
    return path
