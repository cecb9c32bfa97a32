"""README.md: how strangers use, cite and check the data."""

from analysis.packages.content import Content, Described
from analysis.packages.privacy_statement import privacy_statement

SIMULATED = (
    "> **Simulated data.** Every row was made by a bot that walked through the study to rehearse it. Nobody's answers are in this package."
)


COMPARISON = """## Do not compare the reports themselves

The analysis that comes to mind first takes reports for the truth. It is wrong, however many people take part:

```text
wrong:  (share of reported yes in one group) − (share of reported yes in the control group)  =  x · truth · effect
right:  effect  =  (that difference) / (x · truth)
```

Here `truth` is the share of people whom the die asks for the truth, 1 − forced no − forced yes, on the average of the subsamples,
and `x` the share of people who follow the die. {about_the_honest} `index.html` derives it.
"""
SHARE = """## Do not take the reports for the truth

The analysis that comes to mind first does. It is wrong, however many people take part:

```text
wrong:  share of reported yes  =  x · (forced yes + truth · true share) + (1 − x) · c
right:  true share  =  ((share of reported yes − (1 − x) · c) / x − forced yes) / truth
```

Here `truth` is the share of people whom the die asks for the truth, 1 − forced no − forced yes, `x` the share of people who follow
the die, and `c` the share of yes that the others report. {about_the_honest} `index.html` derives it.
"""


def readme(content: Content) -> bytes:
    parts = [f"# {content.title}", ""]
    if content.simulated:
        parts += [SIMULATED, ""]
    parts += [content.description, ""]
    if content.bots_left_out:
        parts += [f"{content.bots_left_out} simulated participants (bots) had walked through the study too; they are left out.", ""]
    parts += citation(content)
    parts += ["## Privacy", "", *(f"* {sentence}" for sentence in privacy_statement(content)), ""]
    parts += ["## Files", "", "`codebook.md` explains every file and every column.", ""]
    parts += ["`index.html` opens in a browser, from a disk: it checks the files, and computes the estimates again.", ""]
    parts += [(SHARE if content.is_survey else COMPARISON).format(about_the_honest=content.about_the_honest)]
    parts += _with_categories(content)
    parts += whether_changed(content)
    parts += _whether_it_follows(content)
    parts += [f"This version stands at <{content.address}>, with its history, or with the reason if it was retracted."]
    return ("\n".join(parts) + "\n").encode()


def _with_categories(content: Content) -> list[str]:
    """Questions with named answers: what is different about them, and which programs know them."""
    if not content.category_questions:
        return []
    names = ", ".join(f"`{one['name']}`" for one in content.category_questions)
    programs = [
        "`categories`. `replicate.py`, `replicate_numpy.py`, `replicate.R` and `index.html` compute every number of them again, intervals",
        "by likelihood too, to 1e-9. With Candor's command line, `candor estimate data.csv --design",
        "design-NAME.json` analyses one of them.",
    ]
    if content.in_sections:
        programs = ["`categories`. `replicate.py` computes every number of them again; the other programs leave whole sections to it."]
    return [
        "## Questions with named answers",
        "",
        f"The answers to {names} are names of categories, not 0 and 1. The die forces each of them; protocol.json says how often, under",
        "`category_questions`. The wrong analysis is as wrong for the share of each answer. Their estimates stand in results.json under",
        *programs,
        "",
        *_about_people(content),
    ]


def _about_people(content: Content) -> list[str]:
    """The background questions that were privatised in the browser."""
    if not content.privatised_background:
        return []
    names = ", ".join(f"`{one['name']}`" for one in content.privatised_background)
    return [
        f"{names}: background questions that were privatised in the browser. The die stands between a report and the truth, so a report is",
        "no covariate. results.json has the shares of their true answers over all arms, and as `no_effect` the check of balance.",
        "",
    ]


def citation(content: Described) -> list[str]:
    """How to cite it, and under which licence it is."""
    cited = ["## Citation", "", content.citation, "", "`CITATION.cff` says the same for programs.", ""]
    if missing := getattr(content, "doi_missing_from", ""):
        cited += [f"A DOI was asked of {missing}, which could not be reached when these files were signed, so they name none. Should one"]
        cited += ["exist now, the page of the data names it.", ""]
    known = content.publication
    cited += [f"Funded by {grant.funder}{f', {grant.award}' if grant.award else ''}." for grant in known.funding]
    if known.contact:
        cited += [f"Questions about the data: {known.contact.name}{f', {known.contact.email}' if known.contact.email else ''}."]
    cited += [""] if known.funding or known.contact else []
    return [*cited, "## Licence", "", f"{content.terms} ({content.licence.name}): <{content.licence.address}>. See `LICENSE`.", ""]


def whether_changed(content: Described) -> list[str]:
    """How to check the signature."""
    return [
        "## Check it",
        "",
        f"The key of the server stands at <{content.key_address}>. Get it once, by a way that you trust, as `signing-key.pem`; all else",
        "works without a network. A copy is in `public-key.pem`; who changed this package could have changed that too, so compare the two.",
        "",
        "Whether a file was changed, with tools that most systems have, in the unpacked folder:",
        "",
        "```sh",
        "sha256sum --check SHA256SUMS",
        "base64 -d SHA256SUMS.sig > signature",
        "openssl pkeyutl -verify -pubin -inkey public-key.pem -rawin -in SHA256SUMS -sigfile signature",
        "```",
        "",
        "Or with Candor's command line, which checks every byte of the ZIP file, or the files of the unpacked folder, and names those",
        "that were changed:",
        "",
        "```sh",
        f"candor verify {content.name}.zip --key signing-key.pem",
        "```",
        "",
    ]


def _whether_it_follows(content: Content) -> list[str]:
    named = content.results["software"]
    return [
        f"Whether every number in `results.json` follows from `data.csv`, in a Python with Candor's library, `{named['distribution']}`",
        f"{named['candor']} (not `candor`: that name belongs to another project). The source of the library that computed the numbers",
        f"has the SHA-256 `{named['library_sha256']}`; `candor --version` says which one is installed.",
        "",
        "```sh",
        "python replicate.py",
        "```",
        "",
        f"Or, should a later library have other modules, `candor replicate {content.name}.zip`.",
        "",
        "It recomputes all estimates with their bootstrap (same seed) and compares them to 1e-9. `allocation-proof.txt` says how to check",
        "that the groups were drawn before anybody took part.",
        "",
        "Without Candor, `Rscript replicate.R` in base R and `python replicate_numpy.py` in a Python with NumPy check the files, and",
        "compute all estimates that have a closed form. `python check_files.py` checks the files alone, and needs only Python.",
        "",
    ]
