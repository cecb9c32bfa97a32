"""All files of a release, from plain values. The same values and key always make the same bytes."""

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from analysis.releases.allocation_proof import allocation_proof
from analysis.releases.archive import PUBLIC_KEY, SIGNATURE, SUMS, signed, zip_of
from analysis.releases.background_counts import cells_csv
from analysis.releases.codebook import codebook
from analysis.releases.content import Content
from analysis.releases.croissant import croissant
from analysis.releases.ddi_codebook import ddi_codebook
from analysis.releases.frictionless_package import frictionless_package
from analysis.releases.protocol_document import as_json
from analysis.releases.readme import readme


def package_files(content: Content, key: Ed25519PrivateKey) -> dict[str, bytes]:
    """Every file by its name, with the signature."""
    tables = {"data.csv": content.data_csv.encode()}
    if content.background is not None:
        tables["background-counts.csv"] = cells_csv(content.background).encode()
    files = {
        **tables,
        "README.md": readme(content),
        "allocation-proof.txt": allocation_proof(content),
        "croissant.json": croissant(content, tables),
        "datapackage.json": frictionless_package(content, tables),
        "ddi-codebook.xml": ddi_codebook(content),
        "protocol.json": as_json(content.protocol),
        "replicate.py": Path(__file__).with_name("replicate.py").read_bytes(),
        "results.json": as_json(content.results),
    }
    files["codebook.md"] = codebook(content, names=[*files, "codebook.md", PUBLIC_KEY, SUMS, SIGNATURE])
    return signed(files, key)


def package_of(content: Content, key: Ed25519PrivateKey) -> bytes:
    return zip_of(package_files(content, key))
