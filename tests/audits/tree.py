"""The files of the project, for the audits."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = "candor"
APPLICATIONS = ("platform/config", "platform/accounts", "platform/audit", "platform/jobs", "surveys", "webhooks", "analysis")
_NOT_OURS = {".venv", "var", "dist", "node_modules", "__pycache__"}


def project_files(*suffixes: str, below: str = ".") -> list[Path]:
    """All files of the project below a folder, relative to its root; all suffixes, when none is given."""
    found = []
    for path in sorted((ROOT / below).rglob("*")):
        parts = path.relative_to(ROOT).parts
        private = any(part in _NOT_OURS or part.endswith(("_cache", ".egg-info")) or part in {".git", ".hypothesis"} for part in parts)
        if path.is_file() and not private and (not suffixes or path.suffix in suffixes):
            found.append(path.relative_to(ROOT))
    return found
