"""index.html: a page that opens from a disk, checks the files that somebody gives it, and computes the estimates again."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from django.conf import settings
from django.template.loader import render_to_string

from analysis.packages.codebook import meaning_of
from analysis.packages.content import Content
from analysis.packages.privacy_statement import privacy_statement

PAGE = "index.html"
COPIED = ("data.csv", "protocol.json", "results.json")
PROGRAMS_OF = Path(__file__).parents[1] / "without_candor"
PROGRAMS = ("check_files.py", "likelihood_region.py", "named_answers.py", "replicate.R", "replicate_numpy.py")
SCRIPTS = tuple(f"js/{name}.js" for name in ("numbers", "likelihood_region", "named_answers", "estimates", "package_page"))
STYLE = "css/package_page.css"


def browser_page(content: Content, copied: Mapping[str, bytes], *, names: Sequence[str]) -> bytes:
    """The page. `copied` are the files from which it computes; it brings their text, because a page from a disk may read no neighbour.

    `names` are all files of the package. The policy of the page names its style and its scripts by their hashes: a browser runs none that
    was changed, and sends no request.
    """
    style, *scripts = (_static(name) for name in (STYLE, *SCRIPTS))
    brought = {"files": sorted(names), "texts": {name: copied[name].decode() for name in COPIED}}
    page = render_to_string(
        "analysis/packages/index.html",
        {
            "content": content,
            "level": f"{100 * content.results['level']:.4g}",
            "truth": _shares_of_truth(content),
            "promises": list(map(str, privacy_statement(content))),
            "files": [(name, meaning_of(name).replace("`", "")) for name in sorted(names)],
            "brought": _as_script_data(brought),
            "style": style,
            "scripts": scripts,
            "style_hash": _hash(style),
            "script_hashes": " ".join(map(_hash, scripts)),
        },
    )
    return page.encode()


def _static(name: str) -> str:
    return (Path(settings.STATICFILES_DIRS[0]) / name).read_text(encoding="utf-8")


def _hash(source: str) -> str:
    """As a Content-Security-Policy names an inline script."""
    return f"'sha256-{b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _as_script_data(document: object) -> str:
    """JSON in which nothing can end the script element that it stands in."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def _shares_of_truth(content: Content) -> str:
    """The probability that the die asks for the truth, of each subsample, in words."""
    design = content.protocol["design"]
    shares = [1 - Fraction(one["forced_no"]) - Fraction(one["forced_yes"]) for one in design["subsamples"].values()]
    if len(set(shares)) == 1:
        return f"{shares[0]}"
    return " or ".join(f"{share} (subsample {name})" for name, share in zip(design["subsamples"], shares, strict=True))


def programs() -> dict[str, bytes]:
    """The programs that need no installation of Candor, by their names."""
    return {name: (PROGRAMS_OF / name).read_bytes() for name in PROGRAMS}
