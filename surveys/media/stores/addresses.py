"""One address says where an installation keeps its files: `file:///srv/media`, or `s3://bucket/prefix?endpoint=…&region=…`.

Nothing here imports a client of an object store, so that an installation with a folder never pays for one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import TypeAlias
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from candor.errors import what_came
from surveys.media.stores.errors import AddressError

EXAMPLE = "s3://bucket/prefix?endpoint=https://s3.example.org&region=eu-central-1"
FOLDERS = "django.core.files.storage.FileSystemStorage"
OBJECTS = "surveys.media.stores.object_store.ObjectStore"
OPTIONS = ("addressing", "copies", "endpoint", "links", "region")
MOST_COPIES = 1_000_000
DEFAULT_REGION = "us-east-1"
"""Stores with an address of their own seldom know regions, and sign with this one."""

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PART = re.compile(r"[A-Za-z0-9._-]+")
_REGION = re.compile(r"[a-z0-9-]{2,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder of this computer."""

    path: Path

    def __str__(self) -> str:
        return f"file://{quote(str(self.path))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A bucket of an object store, or the part of one whose names begin with a prefix."""

    bucket: str
    prefix: str = ""
    endpoint: str = ""
    """Empty: Amazon's own, by the region."""
    region: str = DEFAULT_REGION
    addressing: str = "path"
    """`path`: https://endpoint/bucket; `virtual`: https://bucket.endpoint."""
    direct: bool = False
    """Whether browsers get signed links to the store; it then sees their addresses."""
    copies: int = 20
    """The gigabytes that copies may take on the disk of a web server."""

    @property
    def seen_by(self) -> str:
        """The other site that sees who plays what, if there is one."""
        return self.origin if self.direct else ""

    @property
    def origin(self) -> str:
        """The scheme and host of a signed link, for the content security policy."""
        if not self.endpoint:
            host = f"s3.{self.region}.amazonaws.com"
            return f"https://{self.bucket}.{host}" if self.addressing == "virtual" else f"https://{host}"
        scheme, _separator, host = self.endpoint.partition("://")
        return f"{scheme}://{self.bucket}.{host}" if self.addressing == "virtual" else self.endpoint

    def __str__(self) -> str:
        return f"s3://{self.bucket}{'/' if self.prefix else ''}{self.prefix} at {self.endpoint or self.origin}"


Place: TypeAlias = Folder | Bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The credentials of an object store; both empty: those that the machine itself has been given."""

    key: str = ""
    secret: str = field(default="", repr=False)


def place_at(address: str) -> Place:
    """The place that an address names; an AddressError says what is wrong with it."""
    try:
        parts = urlsplit(address.strip())
        parts.port  # noqa: B018  # asked for, because it may be no number
    except ValueError:  # its message may hold a part of a key
        raise AddressError(f"expected an address such as file:///srv/media or {EXAMPLE}; this one cannot be read.") from None
    if "@" in parts.netloc or parts.username or parts.password:
        raise AddressError(
            "expected no user name and no key in the address; the variables CANDOR_MEDIA_KEY and CANDOR_MEDIA_SECRET have them."
        )
    if parts.fragment:
        raise AddressError("expected no # in the address.")
    match parts.scheme:
        case "file":
            return _folder(parts)
        case "s3":
            return _bucket(parts)
        case other:
            came = what_came(f"{other}://") if other else "no scheme"
            raise AddressError(f"expected an address that begins with file:/// or s3://, got {came}.")


def keys_of(key: str, secret: str) -> Keys:
    """The credentials: both, or neither."""
    keys = Keys(key=key.strip(), secret=secret.strip())
    if bool(keys.key) != bool(keys.secret):
        raise AddressError("expected both CANDOR_MEDIA_KEY and CANDOR_MEDIA_SECRET, or neither; one of them is missing.")
    return keys


def backend(place: Place, keys: Keys) -> dict[str, object]:
    """The place as Django's settings name a storage."""
    if isinstance(place, Folder):
        return {"BACKEND": FOLDERS, "OPTIONS": {"location": str(place.path)}}
    if find_spec("storages") is None or find_spec("boto3") is None:
        raise AddressError("an object store needs two more packages: pip install --require-hashes -r requirements/complete.txt")
    return {"BACKEND": OBJECTS, "OPTIONS": {"place": place, "keys": keys}}


def _folder(parts: SplitResult) -> Folder:
    if parts.netloc not in ("", "localhost"):
        raise AddressError(f"expected file:/// and three strokes, got a computer named {parts.netloc!r}.")
    if parts.query:
        raise AddressError("expected no ? in the address of a folder.")
    path = Path(unquote(parts.path))
    if not path.is_absolute() or path == Path("/") or ".." in path.parts:
        raise AddressError("expected the whole path of a folder, such as file:///srv/media.")
    return Folder(path=path)


def _bucket(parts: SplitResult) -> Bucket:
    if not _BUCKET.fullmatch(parts.netloc):
        raise AddressError("expected the name of a bucket (3 to 63 small letters, digits, dots and hyphens) after s3://.")
    prefix = parts.path.strip("/")
    if prefix and not all(_PART.fullmatch(part) and part.strip(".") for part in prefix.split("/")):
        raise AddressError("expected letters, digits, dots, hyphens and underscores between the strokes after the bucket.")
    given = _options(parts.query)
    endpoint = _endpoint(given["endpoint"]) if "endpoint" in given else ""
    if not endpoint and "region" not in given:
        raise AddressError(f"expected ?endpoint=… (the address of the store) or ?region=… (of Amazon S3), as in {EXAMPLE}.")
    region = given.get("region", DEFAULT_REGION)
    if not _REGION.fullmatch(region):
        raise AddressError(f"region: expected small letters, digits and hyphens, such as eu-central-1, got {what_came(region)}.")
    is_direct = _one_of(given, "links", ("own", "direct")) == "direct"
    if is_direct and endpoint.startswith("http://") and not _is_this_computer(endpoint):
        raise AddressError("links=direct: expected an endpoint with https://, because browsers refuse to load a video over http:// here.")
    usual = "path" if endpoint or "." in parts.netloc else "virtual"
    return Bucket(
        bucket=parts.netloc,
        prefix=prefix,
        endpoint=endpoint,
        region=region,
        addressing=_one_of(given, "addressing", tuple(sorted(("path", "virtual"), key=lambda style: style != usual))),
        direct=is_direct,
        copies=_gigabytes(given.get("copies", "20")),
    )


def _options(query: str) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    names = [name for name, _value in pairs]
    if unknown := sorted(set(names) - set(OPTIONS)):
        raise AddressError(f"expected only {', '.join(OPTIONS)} after the ?, got {what_came(unknown[0])}.")
    if twice := [name for name in names if names.count(name) > 1]:
        raise AddressError(f"expected {twice[0]} once.")
    return dict(pairs)


def _one_of(given: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str:
    """The value of an option; the first of those allowed if it was not given."""
    found = given.get(name, allowed[0])
    if found not in allowed:
        raise AddressError(f"{name}: expected {' or '.join(sorted(allowed))}, got {what_came(found)}.")
    return found


def _gigabytes(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,7}", text) or not 1 <= int(text) <= MOST_COPIES:
        raise AddressError(f"copies: expected a whole number of gigabytes from 1 to {MOST_COPIES}, got {what_came(text)}.")
    return int(text)


def _endpoint(text: str) -> str:
    try:
        parts = urlsplit(text)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise AddressError("endpoint: expected an address such as https://s3.example.org; this one cannot be read.") from None
    if "@" in parts.netloc:
        raise AddressError("endpoint: expected no user name and no key in it.")
    if parts.scheme not in ("http", "https") or not host or not re.fullmatch(r"[A-Za-z0-9.:-]+", host):
        raise AddressError("endpoint: expected http:// or https:// and a host, such as https://s3.example.org.")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise AddressError("endpoint: expected nothing after the host; the bucket stands after s3://.")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{f':{port}' if port else ''}"


def _is_this_computer(endpoint: str) -> bool:
    host = urlsplit(endpoint).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
