"""Walk people through an embedded installation, and copy its files at each stage.

    python -m tests.linkage FOLDER

The environment names the settings. With `--as-before`, entries are kept as in the first version, for tests of the attacks.
"""

import json
import shutil
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import django
from django.conf import settings


def main(folder: Path, *, before: bool) -> None:
    django.setup()
    from tests.linkage.as_before import as_before  # models can be imported from here on
    from tests.linkage.journeys import Truth, in_stages

    database = Path(settings.DATABASES["default"]["NAME"])

    def keep(stage: str, truths: Mapping[str, Truth]) -> None:
        kept = folder / stage.replace(" ", "-")
        kept.mkdir(parents=True)
        for file in database.parent.glob(f"{database.name}*"):
            shutil.copy2(file, kept)
        (kept / "truth.json").write_text(json.dumps(truths))

    with as_before() if before else nullcontext():
        in_stages(keep, seed=1)


main(Path(sys.argv[1]), before="--as-before" in sys.argv)
