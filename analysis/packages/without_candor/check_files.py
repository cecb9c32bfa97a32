"""Say whether the files of a data package are as they were signed: `python check_files.py`, in their folder.

Needs Python 3.10 or later, nothing else. Exit 0: every file is as it was signed. Exit 1: a file was changed or is missing. Without another
key, as in `python check_files.py . signing-key.pem`, the signature is checked by the key in the package, which proves less: somebody who
changed the files could have changed that, too.
"""

import sys

if __name__ == "__main__" and __package__ is None and not getattr(sys.flags, "safe_path", sys.flags.isolated):
    del sys.path[0]  # the folder of this file: a module that somebody put there must not stand in for one of Python's

import base64
import hashlib
import re
from pathlib import Path

SUMS, SIGNATURE, KEY = "SHA256SUMS", "SHA256SUMS.sig", "public-key.pem"
MOVES_THE_CURSOR = re.compile("[\0-\x08\n-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
Point = tuple[int, int, int, int]

# Ed25519, as in RFC 8032, section 6.
P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
KEY_HEAD = bytes.fromhex("302a300506032b6570032100")


def point_from(coded: bytes) -> Point:
    """The point of 32 bytes, in extended coordinates; ValueError where there is none."""
    number = int.from_bytes(coded, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= P:
        raise ValueError("no point")
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P or (not x and sign):
        raise ValueError("no point")
    x = P - x if x % 2 != sign else x
    return x, y, 1, x * y % P


def added(one: Point, other: Point) -> Point:
    a, b = (one[1] - one[0]) * (other[1] - other[0]), (one[1] + one[0]) * (other[1] + other[0])
    c, d = 2 * one[3] * other[3] * D, 2 * one[2] * other[2]
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiplied(factor: int, point: Point) -> Point:
    total = (0, 1, 1, 0)
    while factor:
        if factor & 1:
            total = added(total, point)
        point, factor = added(point, point), factor >> 1
    return total


def is_signature(message: bytes, signature: bytes, key: bytes) -> bool:
    """Whether 64 bytes are the signature of the message by the key, 32 bytes."""
    if len(signature) != 64:
        return False
    try:
        public, nonce = point_from(key), point_from(signature[:32])
        base = point_from((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    except ValueError:
        return False
    factor = int.from_bytes(signature[32:], "little")
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    if factor >= ORDER:
        return False
    left, right = multiplied(factor, base), added(nonce, multiplied(challenge, public))
    return not ((left[0] * right[2] - right[0] * left[2]) % P or (left[1] * right[2] - right[1] * left[2]) % P)


def is_genuine(message: bytes, line: bytes, pem: bytes) -> bool:
    """Whether a line of base64 signs the message by one of the keys in `pem`."""
    try:
        signature = base64.b64decode(line.rstrip(b"\n"), validate=True)
    except ValueError:
        return False
    if base64.b64encode(signature) + b"\n" != line:
        return False
    blocks = re.findall(rb"-----BEGIN PUBLIC KEY-----\s*([A-Za-z0-9+/=\s]+?)\s*-----END PUBLIC KEY-----", pem)
    keys = [base64.b64decode(b"".join(block.split())) for block in blocks]
    return any(key.startswith(KEY_HEAD) and len(key) == 44 and is_signature(message, signature, key[12:]) for key in keys)


def faults_in(folder: Path, key: bytes | None = None) -> list[str]:
    """The faults of the files of the folder, one sentence each."""
    if missing := [name for name in (SUMS, SIGNATURE, KEY) if not (folder / name).is_file()]:
        return [f"{name}: it is missing" for name in missing]
    sums, faults = (folder / SUMS).read_bytes(), []
    for number, line in enumerate(sums.decode("utf-8", "replace").splitlines(), start=1):
        found = re.fullmatch(r"([0-9a-f]{64})  ([^/]+)", line)
        if not found:
            faults.append(f"{SUMS}: it was changed: line {number} is not a hash and a name")
        elif not (folder / found[2]).is_file():
            faults.append(f"{found[2]}: it is missing")
        elif hashlib.sha256((folder / found[2]).read_bytes()).hexdigest() != found[1]:
            faults.append(f"{found[2]}: it was changed")
    if not is_genuine(sums, (folder / SIGNATURE).read_bytes(), (folder / KEY).read_bytes() if key is None else key):
        faults.append(f"{SIGNATURE}: it does not belong to {SUMS}, or is by another key")
    return faults


def say(*lines: str) -> None:
    """Print lines in which no name of a stranger moves the cursor of a terminal: such a character is written as its code, as in JSON."""
    for line in lines:
        print(MOVES_THE_CURSOR.sub(lambda found: f"\\u{ord(found[0]):04x}", line))


def main(folder: Path, key: bytes | None = None) -> int:
    faults = faults_in(folder, key)
    say(*faults, "The files are not as they were signed." if faults else "Every file is as it was signed.")
    return 1 if faults else 0


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    sys.exit(main(where, Path(sys.argv[2]).read_bytes() if len(sys.argv) > 2 else None))
