"""All files of a release, from plain values. The same values and key always make the same bytes."""

from importlib import resources
from typing import TYPE_CHECKING

from analysis.packages.allocation_proof import allocation_proof
from analysis.packages.archives.browser_page import PAGE, browser_page, programs
from analysis.packages.archives.citation import CITATION, LICENCE, citation_file, licence_file
from analysis.packages.archives.croissant import croissant
from analysis.packages.archives.datacite import datacite
from analysis.packages.archives.labelled_files import labelled_files
from analysis.packages.archives.ro_crate import CRATE, ro_crate
from analysis.packages.archives.schema_org import DATACITE
from analysis.packages.archives.study_document import STUDY
from analysis.packages.background_counts import cells_csv
from analysis.packages.codebook import codebook
from analysis.packages.content import Content
from analysis.packages.ddi_codebook import ddi_codebook
from analysis.packages.frictionless_package import frictionless_package
from analysis.packages.protocol_document import as_json
from analysis.packages.readme import readme
from candor.packages.analytics import ANALYTICS
from candor.packages.archive import PUBLIC_KEY, SIGNATURE, SUMS, signed, zip_of
from candor.packages.record_promises import CHECK, HIERARCHIES, RECORDS

if TYPE_CHECKING:  # the web starts without it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def package_files(content: Content, key: "Ed25519PrivateKey") -> dict[str, bytes]:
    """Every file by its name, with the signature."""
    tables = {"data.csv": content.data_csv.encode()}
    if content.background is not None:
        tables["background-counts.csv"] = cells_csv(content.background).encode()
    documents = {}
    if content.records is not None:
        documents = {RECORDS: as_json(content.records.records), HIERARCHIES: as_json(content.records.hierarchies)}
    files = {
        **tables,
        **documents,
        CITATION: citation_file(content),
        LICENCE: licence_file(content),
        "README.md": readme(content),
        "allocation-proof.txt": allocation_proof(content),
        "croissant.json": croissant(content, tables, documents),
        DATACITE: datacite(content),
        "datapackage.json": frictionless_package(content, tables, documents),
        "ddi-codebook.xml": ddi_codebook(content, documents),
        **{name: as_json(design) for name, design in content.design_files.items()},
        "protocol.json": as_json(content.protocol),
        "replicate.py": (resources.files("candor.packages") / "replicate.py").read_bytes(),
        **programs(),
        **labelled_files(content),
        "results.json": as_json(content.results),
        STUDY: content.study_file.encode(),
        **{name: text.encode() for name, text in content.plan_files.items()},
    }
    if content.analytics is not None:
        files[ANALYTICS] = as_json(content.analytics)
    if content.records is not None:
        files[CHECK] = (resources.files("candor.records") / "checking.py").read_bytes()
    others = [*files, "codebook.md", PAGE, PUBLIC_KEY, SUMS, SIGNATURE]
    files["codebook.md"] = codebook(content, names=[*others, CRATE])
    files[PAGE] = browser_page(content, files, names=[*others, CRATE])
    files[CRATE] = ro_crate(content, files, names=others)
    return signed(files, key)


def package_of(content: Content, key: "Ed25519PrivateKey") -> bytes:
    return zip_of(package_files(content, key))
