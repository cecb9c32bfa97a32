"""A package as one ZIP file: the same files always make the same bytes, on every machine, so that every byte can be checked."""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from candor.packages.signing import public_pem, signature_of

if TYPE_CHECKING:  # the web starts without it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SUMS, SIGNATURE, PUBLIC_KEY = "SHA256SUMS", "SHA256SUMS.sig", "public-key.pem"
LARGEST = 64 * 2**20
"""So many bytes are unpacked at most from an archive that somebody packed; Candor packs nothing."""


def sums_of(files: Mapping[str, bytes]) -> bytes:
    """The lines of `sha256sum` for these files, by name."""
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)).encode()


def signed(files: Mapping[str, bytes], key: "Ed25519PrivateKey") -> dict[str, bytes]:
    """The files with the public key, the sums over all of them, and the signature over the sums."""
    whole = {**files, PUBLIC_KEY: public_pem(key).encode()}
    sums = sums_of(whole)
    return {**whole, SUMS: sums, SIGNATURE: signature_of(sums, key)}


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """Files in the order of their names, without times, rights of a person, or compression, whose bytes depend on a library's version."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def files_in(package: bytes) -> dict[str, bytes]:
    """The files of an archive. BadZipFile: it is none; a name stands in it twice, of which programs unpack the first or the last; a
    file is packed in another way than programs pack; or the files are larger than the archive and than `LARGEST`.
    """
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        names = archive.namelist()
        if len(set(names)) < len(names):
            raise zipfile.BadZipFile(f"a file stands in it twice, among {', '.join(sorted(names))}")
        if odd := [one.filename for one in archive.infolist() if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)]:
            raise zipfile.BadZipFile(f"{odd[0]} is packed in another way than by deflate")
        most = max(len(package), LARGEST)
        if (size := sum(one.file_size for one in archive.infolist())) > most:
            raise zipfile.BadZipFile(f"expected files of at most {most} bytes in it, found {size}")
        try:
            return {one.filename: _read(archive, one) for one in archive.infolist()}
        except (zlib.error, RuntimeError, EOFError) as error:  # damaged, or with a password
            raise zipfile.BadZipFile(str(error)) from error


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The content of a file, never more of it than the archive says: without a number of bytes all is unpacked before it is cut off."""
    with archive.open(entry) as file:
        return file.read(entry.file_size + 1)


def folders_in(path: Path) -> list[str]:
    """The names of the folders in a folder, each with a stroke at its end. No package has any, and a program runs what lies in them."""
    return sorted(f"{one.name}/" for one in path.iterdir() if one.is_dir())


def files_at(path: Path) -> dict[str, bytes]:
    """The files of a package: of the ZIP file, or of the folder that it was unpacked to (those directly in it)."""
    if path.is_dir():
        return {one.name: one.read_bytes() for one in sorted(path.iterdir()) if one.is_file()}
    return files_in(path.read_bytes())
