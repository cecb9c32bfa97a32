"""A diagnosis in a file while it is simulated, so that it goes on where it was stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from candor.diagnosis.diagnose import Plan
from candor.diagnosis.tallies import Tally
from candor.errors import DataError
from candor.written_json import json_in


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDiagnosis:
    """The first `done` parts of a plan and their sums by setting."""

    seed: int
    plan: Mapping[str, object]
    done: int
    tallies: Mapping[int, Tally]

    @classmethod
    def read(cls, path: Path) -> KeptDiagnosis | None:
        """From a file; None where there is none yet.

        Raises
        ------
        DataError
            When the file is not that of a diagnosis.
        """
        if not path.exists():
            return None
        try:
            found = json_in(path.read_bytes())
            tallies = {int(setting): Tally.from_document(tally) for setting, tally in found["tallies"].items()}
            return cls(seed=int(found["seed"]), plan=dict(found["plan"]), done=int(found["done"]), tallies=tallies)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{path}: expected a file of an unfinished diagnosis ({type(error).__name__}: {error})") from error

    def require(self, plan: Plan, *, path: Path) -> None:
        """Refuse to go on with another diagnosis than that of the file."""
        wanted = _document(plan)
        if different := [name for name, value in wanted.items() if self.plan.get(name) != value]:
            raise DataError(f"{path}: another diagnosis was begun there; what differs: {', '.join(different)}")
        if not 0 <= self.done <= len(plan.parts):
            raise DataError(f"{path}: expected 0 to {len(plan.parts)} parts, found {self.done}")


def keep(path: Path, plan: Plan, *, done: int, tallies: Mapping[int, Tally]) -> None:
    """Write the sums so far; somebody who is interrupted has the file of before, or the new one."""
    document = {
        "seed": plan.seed,
        "plan": _document(plan),
        "done": done,
        "tallies": {str(setting): asdict(tally) for setting, tally in tallies.items()},
    }
    beside = path.with_name(path.name + ".new")
    try:
        beside.write_text(json.dumps(document), encoding="utf-8")
        os.replace(beside, path)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        beside.unlink(missing_ok=True)


def _document(plan: Plan) -> dict[str, object]:
    """All on which the numbers depend, as JSON gives it back."""
    document = {
        "design": plan.design.to_document(),
        "expected": asdict(plan.expected),
        "settings": [asdict(setting) for setting in plan.settings],
        "studies": plan.studies,
        "level": plan.level,
        "seed": plan.seed,
    }
    plain: dict[str, object] = json.loads(json.dumps(document))
    return plain
