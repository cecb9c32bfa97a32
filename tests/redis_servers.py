"""Redis with a password, with TLS under certificates made for one test, and in pairs that Sentinels watch."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import redis
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.installing import find_server
from tests.services import Server, ServiceError, free_port, redis_server, running

USAGE = {
    is_authority: x509.KeyUsage(
        digital_signature=not is_authority,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    for is_authority in (True, False)
}
PASSWORD, OF_SENTINELS = "open: s@same/#1", "of the Sentinels"


@dataclass(frozen=True, kw_only=True)
class Certificates:
    authority: Path
    certificate: Path
    key: Path


def certificates(folder: Path) -> Certificates:
    """An authority of its own, and a certificate for 127.0.0.1 that it signed."""
    folder.mkdir()
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _one in range(2))
    authority_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of a test")])
    begin = datetime.now(UTC) - timedelta(hours=1)
    found = []
    for name, own_key, is_authority in ((authority_name, authority_key, True), (x509.Name([]), key, False)):
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(authority_name).public_key(own_key.public_key())
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(begin).not_valid_after(begin + timedelta(days=1))
        builder = builder.add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(own_key.public_key()), critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())  # Python 3.13 asks for it
        builder = builder.add_extension(issuer, critical=False).add_extension(USAGE[is_authority], critical=True)
        host = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
        found.append(builder.add_extension(host, critical=not is_authority).sign(authority_key, hashes.SHA256()))
    files = Certificates(authority=folder / "ca.pem", certificate=folder / "redis.pem", key=folder / "redis.key")
    for path, one in zip((files.authority, files.certificate), found, strict=True):
        path.write_bytes(one.public_bytes(Encoding.PEM))
    files.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return files


def program_with_tls() -> str:
    if (program := find_server("redis-server")) is None:
        raise ServiceError("no Redis with TLS here: install it (Debian: apt-get install redis-server)")
    return program


def with_password(password: str = PASSWORD) -> tuple[list[str | Path], dict[str, object]]:
    """The options of a server that asks for a password, and what a client needs."""
    return ["--requirepass", password, "--masterauth", password], {"password": password}


def with_tls(files: Certificates) -> tuple[list[str | Path], dict[str, object]]:
    """The options of a server that speaks TLS only, and what a client needs."""
    options = ["--port", "0", "--tls-port", "{port}", "--tls-cert-file", files.certificate, "--tls-key-file", files.key]
    more = ["--tls-ca-cert-file", files.authority, "--tls-auth-clients", "no", "--tls-replication", "yes"]
    return [*options, *more], {"ssl": True, "ssl_ca_certs": str(files.authority)}


@dataclass(frozen=True, kw_only=True)
class Watched:
    """Two servers, the second of which copies the first, and the Sentinels that let it take over."""

    servers: list[Server]
    sentinels: list[Server]

    @property
    def hosts(self) -> str:
        return ",".join(one.address.removeprefix("redis://").removesuffix("/0") for one in self.sentinels)


@contextmanager
def watched(folder: Path, files: Certificates) -> Iterator[Watched]:
    """All of them with passwords and TLS."""
    folder.mkdir()
    (asks, names), (encrypts, trusts) = with_password(), with_tls(files)
    kind = {"program": program_with_tls(), "access": names | trusts}
    with ExitStack() as stack:
        first = stack.enter_context(redis_server(folder / "first", options=asks + encrypts, **kind))
        port = first.address.split(":")[-1].removesuffix("/0")
        copies = ["--replicaof", f"127.0.0.1 {port}", "--repl-diskless-sync-delay", "0"]
        second = stack.enter_context(redis_server(folder / "second", options=[*asks, *encrypts, *copies], **kind))
        sentinels = [stack.enter_context(sentinel(folder / f"sentinel-{number}", port, files)) for number in range(2)]
        yield Watched(servers=[first, second], sentinels=sentinels)


@contextmanager
def sentinel(folder: Path, port: str, files: Certificates) -> Iterator[Server]:
    """One that finds after half a second that the server on this port has gone."""
    folder.mkdir()
    own = free_port()
    settings = folder / "sentinel.conf"
    settings.write_text(
        f"""port 0
tls-port {own}
bind 127.0.0.1
dir "{folder}"
requirepass "{OF_SENTINELS}"
sentinel sentinel-pass "{OF_SENTINELS}"
tls-cert-file "{files.certificate}"
tls-key-file "{files.key}"
tls-ca-cert-file "{files.authority}"
tls-auth-clients no
tls-replication yes
sentinel monitor main 127.0.0.1 {port} 1
sentinel auth-pass main "{PASSWORD}"
sentinel down-after-milliseconds main 500
sentinel failover-timeout main 3000
"""
    )

    def answers() -> None:
        access = {"ssl": True, "ssl_ca_certs": str(files.authority)}
        with redis.Redis(host="127.0.0.1", port=own, password=OF_SENTINELS, **access) as client:
            if not client.sentinel_slaves("main"):
                raise redis.ConnectionError("it does not know the other server yet")

    with running(
        Server(
            address=f"redis://127.0.0.1:{own}/0",
            command=[program_with_tls(), settings, "--sentinel"],
            folder=folder,
            owner=None,
            ready=answers,
            not_ready=redis.ConnectionError,
            stop_signal=signal.SIGTERM,
        )
    ) as server:
        yield server
