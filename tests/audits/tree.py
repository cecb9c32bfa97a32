"""The files of the project, for the audits."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = "candor"
APPLICATIONS = ("platform/config", "platform/accounts", "platform/audit", "platform/jobs", "surveys", "webhooks", "lti", "analysis")
_NOT_OURS = {".venv", "var", "dist", "node_modules", "__pycache__", ".git", ".hypothesis"}


def project_files(*suffixes: str, below: str = ".") -> list[Path]:
    """All files of the project below a folder, relative to its root; all suffixes, when none is given."""
    found = []
    for folder, folders, names in os.walk(ROOT / below):
        folders[:] = [name for name in folders if name not in _NOT_OURS and not name.endswith(("_cache", ".egg-info"))]
        paths = [Path(folder, name).relative_to(ROOT) for name in names if name not in _NOT_OURS]
        found += [path for path in paths if not suffixes or path.suffix in suffixes]
    return sorted(found)
