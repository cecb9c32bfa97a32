"""README.md: what a stranger needs to use, cite and check the data."""

import json

from analysis.releases.content import Content
from analysis.releases.privacy_statement import privacy_statement, sentences_of

SIMULATED = (
    "> **Simulated data.** Every row was made by a bot that walked through the study to rehearse it. Nobody's answers are in this package."
)


def readme(content: Content) -> bytes:
    parts = [f"# {content.title}", ""]
    if content.simulated:
        parts += [SIMULATED, ""]
    parts += [content.description, ""]
    if content.bots_left_out:
        parts += [f"{content.bots_left_out} simulated participants (bots) had walked through the study too; they are left out.", ""]
    parts += ["## Citation", "", content.citation, "", "As `CITATION.cff`:", "", "```yaml", *_citation_file(content), "```", ""]
    parts += ["## Licence", "", f"{content.licence.title} ({content.licence.name}): <{content.licence.address}>", ""]
    parts += ["## Privacy", "", *(f"* {sentence}" for sentence in sentences_of(privacy_statement(content))), ""]
    parts += ["## Files", "", "`codebook.md` explains every file and every column.", ""]
    parts += [
        "## Check it",
        "",
        "Whether a file was changed, with Candor's command line (`pip install` the `candor` package) or with any system's own tools:",
        "",
        "```sh",
        f"candor verify {content.name}.zip --key signing-key.pem",
        "sha256sum --check SHA256SUMS",
        "```",
        "",
        f"The key stands at <{content.key_address}>. A copy is in `public-key.pem`; who changed this package could have changed that too.",
        "",
        "Whether every number in `results.json` follows from `data.csv`, in a Python with `candor` installed:",
        "",
        "```sh",
        "python replicate.py",
        "```",
        "",
        "It recomputes all estimates with their bootstrap (same seed) and compares them to 1e-9. `allocation-proof.txt` says how to check",
        "that the groups were drawn before anybody took part.",
        "",
        f"This version stands at <{content.address}>, with its history, or with the reason if it was retracted.",
    ]
    return ("\n".join(parts) + "\n").encode()


def _citation_file(content: Content) -> list[str]:
    """In JSON's quotes, which YAML reads too."""
    fields = {
        "title": content.title,
        "version": str(content.version),
        "license": content.licence.name,
        "url": content.address,
    }
    lines = ["cff-version: 1.2.0", "message: If you use these data, please cite them as below.", "type: dataset"]
    lines += [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()]
    return [*lines, "authors:", *(f"  - name: {json.dumps(author, ensure_ascii=False)}" for author in content.authors)]
