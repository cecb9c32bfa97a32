"""The files of protected records that somebody brought, from plain values: a package like that of a study, without rows and answers."""

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, TypedDict

from analysis.packages.archives.citation import CITATION, LICENCE, citation_file, licence_file
from analysis.packages.archives.croissant import dataset
from analysis.packages.archives.schema_org import DATACITE
from analysis.packages.codebook import MEANING
from analysis.packages.content import SIMULATED_DATA, Described, cited
from analysis.packages.frictionless_package import described, document_resource
from analysis.packages.protocol_document import as_json
from analysis.packages.readme import citation, whether_changed
from analysis.packages.risk import alone_by_auxiliary
from candor.packages.archive import PUBLIC_KEY, SIGNATURE, SUMS, signed, zip_of
from candor.packages.record_promises import CHECK, HIERARCHIES, RECORDS
from candor.records.schema import Record
from candor.sentences import Sentence
from candor.sentences import sentence as _

if TYPE_CHECKING:  # the web starts without it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

TITLES = {RECORDS: "Protected student records", HIERARCHIES: "The labels of records, from each value up to *"}
KEYWORDS = ("student records", "k-anonymity", "l-diversity")
OWN_MEANING = {
    RECORDS: "The students, as protected records",
    "protocol.json": "What is promised: k, ℓ, how many were left out, and the role of each attribute",
    "results.json": "What was lost, and what could still be learned, as the ethics board read it",
}


class Promised(TypedDict):
    """The rules by which the records are protected."""

    k: int
    class_size: int
    l: Mapping[str, int]  # noqa: E741  # as it stands in the file
    suppress: float
    anatomy: bool
    auxiliary: list[str]
    suppressed: int
    roles: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSet(Described):
    """`promised`: k, class size, ℓ, share and number left out, roles. `loss` only the owner of the originals can compute."""

    version: int = 1
    """There is one: two would be made of other classes, and could be intersected."""
    about: str
    records: Sequence[Record]
    hierarchies: Mapping[str, object]
    promised: Promised
    loss: Mapping[str, object]
    risks: Mapping[str, object]
    alone_if_confirmed: int | None
    """How many students would share their record with nobody, if all that is asked were published as it is; None: nothing is asked."""
    software: Mapping[str, object]

    @property
    def name(self) -> str:
        return f"{self.slug}-records"

    @property
    def address(self) -> str:
        return f"{self.site}/data-sets/{self.slug}/public/"

    @property
    def keywords(self) -> list[str]:
        return [*([SIMULATED_DATA] if self.simulated else []), *KEYWORDS]

    @property
    def citation(self) -> str:
        return cited(self.publication.authors, self.year, self.title, self.address, doi=self.doi)

    @property
    def abstract(self) -> Sentence:
        told = {"n": len(self.records), "k": self.promised["k"], "suppressed": self.promised["suppressed"]}
        if self.simulated:
            return _(
                "Records of %(n)s simulated students, who are nobody. Each record is shared by at least %(k)s of them, as if they were "
                "people. Left out: %(suppressed)s.",
                **told,
            )
        return _(
            "Records of %(n)s students. Each record is shared by at least %(k)s of them: labels that could identify somebody were made "
            "coarser. Left out: %(suppressed)s.",
            **told,
        )

    @property
    def summary(self) -> dict[str, object]:
        """The numbers that officers and everybody read, as those of a study; nobody has an arm here."""
        told = {"promised": self.promised, "suppressed": self.promised["suppressed"], "loss": self.loss, "risks": self.risks}
        return {**told, "precision": [], "alone_by_arm": None, "alone_by_auxiliary": alone_by_auxiliary(self.records)}


def record_set_package(content: RecordSet, key: "Ed25519PrivateKey") -> bytes:
    """The signed ZIP file. The same values and key always make the same bytes."""
    from analysis.packages.archives.datacite import datacite  # lxml, which web processes can do without

    documents = {RECORDS: as_json(content.records), HIERARCHIES: as_json(content.hierarchies)}
    files = {
        **documents,
        CHECK: (resources.files("candor.records") / "checking.py").read_bytes(),
        CITATION: citation_file(content),
        LICENCE: licence_file(content),
        "README.md": _readme(content),
        "croissant.json": dataset(content, {}, documents),
        DATACITE: datacite(content),
        "datapackage.json": described(content, [_resource(name, text) for name, text in documents.items()]),
        "protocol.json": as_json({"title": content.title, "about": content.about, "records": content.promised}),
        "results.json": as_json({"software": content.software, "records": {"loss": content.loss, "risks": content.risks}}),
    }
    files["codebook.md"] = _codebook(content, names=[*files, "codebook.md", PUBLIC_KEY, SUMS, SIGNATURE])
    return zip_of(signed(files, key))


def _resource(name: str, text: bytes) -> dict[str, object]:
    return {**document_resource(name, text), "title": TITLES[name], "hash": f"sha256:{hashlib.sha256(text).hexdigest()}"}


def _readme(content: RecordSet) -> bytes:
    levels = [f"Among students who look alike no value of {name} is commoner than one in {level}." for name, level in _levels(content)]
    parts = [f"# {content.title}", "", content.description, "", content.about, "", *citation(content), "## Privacy", ""]
    parts += [f"* Each record is shared by at least {content.promised['k']} students.", *(f"* {level}" for level in levels)]
    if content.promised["anatomy"]:
        parts.append("* Sensitive values were shuffled among students who look alike: no two values of a record belong together.")
    if content.promised["auxiliary"]:
        parts.append(f"* Published as they are, confirmed by the ethics board: {', '.join(content.promised['auxiliary'])}.")
    parts += ["* Records are protected by these rules only, not by noise: `results.json` says what could still be learned.", ""]
    parts += ["## Files", "", "`codebook.md` explains every file and every attribute.", "", *whether_changed(content)]
    parts += ["Whether the records hold what is promised:", "", "```sh", check_command(content.promised), "```", ""]
    parts += [f"They stand at <{content.address}>, or the reason stands there if they were retracted."]
    return ("\n".join(parts) + "\n").encode()


def check_command(promised: Promised) -> str:
    """The command with which anybody checks the promise, in the folder of the files."""
    demanded = ",".join(f"{name}={level}" for name, level in promised["l"].items())
    as_they_are = [f" --auxiliary {shlex.quote(name)}" for name in promised["auxiliary"]]
    told = [f"--k {promised['k']}", *([f"--l {shlex.quote(demanded)}"] if demanded else [])]
    return f"python check.py records.json {' '.join(told)}{''.join(as_they_are)}"


def _levels(content: RecordSet) -> list[tuple[str, int]]:
    return list(content.promised["l"].items())


def _codebook(content: RecordSet, *, names: Sequence[str]) -> bytes:
    lines = [f"# Codebook: {content.title}", "", "## records.json", "", MEANING_OF_RECORDS, "", "| Attribute | Role |", "|---|---|"]
    lines += [f"| `{name}` | {role.replace('_', '-')} |" for name, role in content.promised["roles"].items()]
    meanings = {**MEANING, **OWN_MEANING}
    lines += [
        "",
        "## All files",
        "",
        "| File | What it is |",
        "|---|---|",
        *(f"| `{name}` | {meanings[name]} |" for name in sorted(names)),
        "",
    ]
    return "\n".join(lines).encode()


MEANING_OF_RECORDS = (
    "A list of records in random order. A record has `quasi_identifiers` (labels of hierarchies.json; `*` tells nothing), `sensitive` "
    "values (null: not told) and `children`, such as courses. `not answered` is a value: nothing was given. Attributes in `auxiliary` are "
    "published as they are; the ethics board confirmed each by name."
)
