"""codebook.md: every file and every column, for people."""

from analysis.releases.content import Content, columns_of


def codebook(content: Content, *, names: list[str]) -> bytes:
    """`names` are all files of the package."""
    lines = [f"# Codebook: {content.title}", "", "## data.csv", ""]
    lines += [
        f"{len(content.rows)} rows, one for each person, in random order. Comma-separated, UTF-8, first line: names of the columns.",
        "",
    ]
    for column in columns_of(content):
        lines += [f"### `{column.name}`", "", column.label, "", "| Value | Meaning |", "|---|---|"]
        lines += [f"| `{value}` | {_cell(label)} |" for value, label in column.values.items()]
        if column.is_answer:
            lines += ["", "Empty: not asked. What is reported is not what is true: the die may have said what to report."]
        lines.append("")
    if content.background is not None:
        lines += ["## background-counts.csv", ""]
        lines += [
            "How often each background answer was given, over everybody in data.csv, one question at a time. An empty count is hidden: it "
            f"is below {content.smallest_count}, or needed so that those cannot be worked out.",
            "",
        ]
        asked = {one["name"]: one["text"] for one in content.protocol["background_questions"]}
        lines += ["| Question | Wording |", "|---|---|", *(f"| `{name}` | {_cell(text)} |" for name, text in asked.items()), ""]
    lines += ["## All files", "", "| File | What it is |", "|---|---|", *(f"| `{name}` | {MEANING[name]} |" for name in sorted(names)), ""]
    return "\n".join(lines).encode()


MEANING = {
    "README.md": "What this is, how to cite it, what it promises, how to check it",
    "SHA256SUMS": "SHA-256 of every other file",
    "SHA256SUMS.sig": "Ed25519 signature of SHA256SUMS, in base64",
    "allocation-proof.txt": "The lists by which chance drew the groups, and their hashes, published before anybody took part",
    "background-counts.csv": "Counts of background answers, small ones hidden",
    "codebook.md": "This file",
    "croissant.json": "Description in Croissant 1.0",
    "data.csv": "The reported answers",
    "datapackage.json": "Description as a Frictionless Data Package",
    "ddi-codebook.xml": "Description in DDI-Codebook 2.5",
    "protocol.json": "The design: arms, die, probabilities, allocation, questions, consent text",
    "public-key.pem": "The key with which the signature is checked",
    "replicate.py": "Recomputes results.json from data.csv and protocol.json",
    "results.json": "Every estimate that follows from the public answers",
}


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
