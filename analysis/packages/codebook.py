"""codebook.md: every file and every column, for people."""

from analysis.packages.content import Content, columns_of


def codebook(content: Content, *, names: list[str]) -> bytes:
    """`names` are all files of the package."""
    lines = [f"# Codebook: {content.title}", "", "## data.csv", ""]
    lines += [
        f"{len(content.rows)} rows, one for each {content.unit}, in random order. Comma-separated, UTF-8, first line: column names.",
        "",
    ]
    for column in columns_of(content):
        lines += [f"### `{column.name}`", "", column.label, "", "| Value | Meaning |", "|---|---|"]
        lines += [f"| `{value}` | {_cell(label)} |" for value, label in column.values.items()]
        if column.name == "arm":
            lines += ["", *(f"* `{arm['name']}` showed {_shown(arm['shows'])}." for arm in content.protocol["arms"])]
        if column.is_answer:
            lines += ["", "Empty: not asked. A report need not be the truth: the die may have dictated it."]
        lines.append("")
    if content.background is not None:
        lines += ["## background-counts.csv", ""]
        lines += [
            "How often each background answer was given, over everybody in data.csv, one question at a time. An empty count is hidden: it "
            f"is below {content.smallest_count}, or needed so that those cannot be worked out. `not answered`: no answer was given.",
            "",
        ]
        for one in content.protocol["background_questions"]:
            lines += [f"### `{one['name']}`", "", one["text"], "", OF_THE_KIND[one["kind"]], ""]
            if "expected" in one:
                others = OF_ATTENTION[content.protocol["attention"]]
                lines += [f"An attention check: the answer `{one['expected']}` is expected. {others}", ""]
            if "shown_after" in one:
                conditions = ", ".join(f"`{line}`" for line in one["shown_after"])
                lines += [f"Shown only after these answers, all of them: {conditions}. Those who did not see it are `not answered`.", ""]
            lines += [OF_A_SUBGROUP, ""] if one["name"] in content.protocol["subgroups"] else []
            if one["answers"]:
                lines += ["| Answer | Meaning |", "|---|---|"]
                lines += [*(f"| `{name}` | {_cell(label)} |" for name, label in one["answers"].items()), ""]
    if content.records is not None:
        lines += ["## records.json", "", RECORDS_MEANING, ""]
        lines += [YES_NO_RECORDS, ""] if content.category_questions else []
        lines += ["| Attribute | Role |", "|---|---|"]
        lines += [*(f"| `{name}` | {role.replace('_', '-')} |" for name, role in content.protocol["records"]["roles"].items()), ""]
    lines += [
        "## All files",
        "",
        "| File | What it is |",
        "|---|---|",
        *(f"| `{name}` | {meaning_of(name)} |" for name in sorted(names)),
        "",
    ]
    return "\n".join(lines).encode()


def _shown(kinds: list[str]) -> str:
    """The stimuli of an arm, page by page."""
    return ", then ".join(OF_THE_STIMULUS[kind] for kind in kinds) or "nothing"


def meaning_of(name: str) -> str:
    """The meaning of a file of a package, in one sentence."""
    numbered = {"preregistration-": "preregistration-N.json", "design-": "design-NAME.json"}
    return next((MEANING[known] for start, known in numbered.items() if name.startswith(start)), None) or MEANING[name]


OF_ATTENTION = {
    "count": "People who gave another one are in the data.",
    "exclude": "People who gave another one were given no arm and are not in the data.",
}
OF_A_SUBGROUP = (
    "The protocol names this question for a comparison of the effects between its answers. Those results are not in this package, because "
    "they are computed from answers that the die does not protect."
)
RECORDS_MEANING = (
    "A list of records, one for each row of data.csv but those left out, in random order. A record has `quasi_identifiers` (labels of "
    "hierarchies.json; `*` tells nothing), `sensitive` values (null: not told), `children` (entries of groups, chosen options) and "
    "`released`: arm, subsample and answers as in data.csv. `not answered` is a value. protocol.json says under `records` what is promised."
)
YES_NO_RECORDS = "The records bear the answers to yes/no questions; those to questions with named answers are in data.csv alone."
OF_THE_STIMULUS = {
    "video": "a video",
    "reading": "a text",
    "image": "a picture",
    "audio": "a recording",
    "task": "a task on another site",
}
OF_THE_KIND = {
    "single_choice": "One answer each; the counts add up to the number of rows in data.csv.",
    "multiple_choice": "Several answers each, so the counts overlap.",
    "ordinal_scale": "One answer each, in the order of the scale; the counts add up to the number of rows in data.csv.",
    "short_text": "A few words. They are never released, and neither is how many wrote some.",
    "circle": "How many friends somebody named, 0 to 8. Pairs of friends who know each other are not counted; names were never sent. "
    "The counts add up to the number of rows in data.csv.",
    "slider": "A number on a line, counted by itself or in intervals; the counts add up to the number of rows in data.csv.",
    "date": "A month or a year, counted by its year; the counts add up to the number of rows in data.csv.",
    "number": "A number, counted by itself or in intervals; the counts add up to the number of rows in data.csv.",
    "group": "A list of entries, of which only the number is counted; the counts add up to the number of rows in data.csv.",
}
MEANING = {
    "CITATION.cff": "How to cite the data, for programs (Citation File Format)",
    "LICENSE": "Under which licence the data are",
    "README.md": "What this is, how to cite it, what it promises, how to check it",
    "SHA256SUMS": "SHA-256 of every other file",
    "SHA256SUMS.sig": "Ed25519 signature of SHA256SUMS, in base64",
    "analytics.json": "Statistics of background and quiz answers, with noise, and the ledger of the privacy budget that paid for them",
    "allocation-proof.txt": "The lists by which chance drew the groups, and their hashes, published before anybody took part",
    "background-counts.csv": "Counts of background answers, small ones hidden",
    "codebook.md": "Every file and every column, explained",
    "croissant.json": "Description in Croissant 1.0",
    "data.csv": "The reported answers",
    "check.py": "Says whether records.json holds what protocol.json promises: `python check.py records.json --k K --l NAME=L`",
    "check_files.py": "Says whether the files are as they were signed, with Python alone: `python check_files.py`",
    "design.json": "The design alone, as `candor estimate data.csv --design design.json` reads it",
    "design-NAME.json": "The design of this question with named answers, as `candor estimate data.csv --design` reads it",
    "hierarchies.json": "For each attribute of records.json the labels of every possible value, from the value up to `*`",
    "records.json": "Background answers as protected records, with arm, subsample and reported answers",
    "datacite.xml": "Description in the DataCite Metadata Schema 4.5, as DOIs are registered with",
    "datapackage.json": "Description as a Frictionless Data Package",
    "ddi-codebook.xml": "Description in DDI-Codebook 2.5",
    "index.html": "This package explained, in a browser: checks files, computes estimates again, names the wrong analysis",
    "labels.R": "Reads data.csv with labels into R, and saves data.rds",
    "labels.do": "Reads data.csv with labels into Stata, and saves data.dta",
    "labels.sps": "Reads data.csv with labels into SPSS or PSPP, and saves data.sav",
    "likelihood_region.py": "A part of replicate_numpy.py: intervals by likelihood of questions with named answers",
    "named_answers.py": "A part of replicate_numpy.py: the estimates of questions with named answers",
    "preregistration-N.json": "The analysis plan of this protocol version, as it was kept at the approval; its hash is in protocol.json",
    "protocol.json": "The design: arms, die, probabilities, allocation, wording of all questions, consent text",
    "public-key.pem": "The key with which the signature is checked",
    "replicate.R": "Checks the files and computes the estimates again, in base R: `Rscript replicate.R`",
    "replicate.py": "Recomputes results.json from data.csv and protocol.json, and difficulties in analytics.json from their noisy counts",
    "replicate_numpy.py": "Checks the files and computes the estimates again, with Python and NumPy alone: `python replicate_numpy.py`",
    "ro-crate-metadata.json": "Description as a Research Object Crate (RO-Crate 1.1)",
    "study.yaml": "The study as one file, which Candor reads back, with the hashes of the videos and pictures that it showed",
    "results.json": "Every estimate that follows from the public answers",
}


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
