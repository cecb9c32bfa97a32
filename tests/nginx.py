"""The committed nginx configuration in a real nginx, on ports and files of the test's own."""

import os
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.installing import apt_install
from tests.services import free_port

CONFIGURATION = Path(__file__).resolve().parents[1] / "deployment" / "nginx.conf"


@dataclass(frozen=True, kw_only=True)
class Nginx:
    """A running nginx: where it listens, and the folder with its `certificates`, `media`, `access.log` and `error.log`."""

    port: int
    plain_port: int
    folder: Path

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def certificate(self) -> Path:
        return self.folder / "certificates" / "fullchain.pem"

    def trusting(self) -> ssl.SSLContext:
        """For a client that trusts its certificate, which is of another name than the address."""
        context = ssl.create_default_context(cafile=self.certificate)
        context.check_hostname = False
        return context


def nginx_program() -> str:
    """Find nginx, or install it."""
    # Debian keeps it where only root's PATH looks.
    path = f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin:/opt/homebrew/bin"
    found = shutil.which("nginx", path=path) or (apt_install("nginx-light") and shutil.which("nginx", path=path))
    assert found, "no nginx: install it (Debian: apt-get install nginx-light; macOS: brew install nginx)"
    return str(found)


@contextmanager
def running_nginx(folder: Path, *, web_ports: Sequence[int]) -> Iterator[Nginx]:
    """Run it in front of web processes on these ports of this machine."""
    nginx = Nginx(port=free_port(), plain_port=free_port(), folder=folder)
    folder.chmod(0o755)
    (folder / "certificates").mkdir()
    (folder / "media").mkdir(exist_ok=True)
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", folder / "certificates" / "privkey.pem", "-out", nginx.certificate),
        ],
        check=True,
        capture_output=True,
    )
    (folder / "upstream.conf").write_text("".join(f"server 127.0.0.1:{port};\n" for port in web_ports))
    configuration = CONFIGURATION.read_text()
    for committed, here in {
        "listen 80;": f"listen 127.0.0.1:{nginx.plain_port};",
        "listen 443 ssl": f"listen 127.0.0.1:{nginx.port} ssl",
        "push:8001": f"127.0.0.1:{web_ports[0]}",
        "/etc/nginx/upstream.conf": str(folder / "upstream.conf"),
        "/etc/nginx/certificates": str(folder / "certificates"),
        "/srv/media": str(folder / "media"),
        "/var/log/candor/access.log": str(folder / "access.log"),
        "/dev/stderr": str(folder / "error.log"),
        "/tmp/nginx.pid": str(folder / "nginx.pid"),
    }.items():
        assert committed in configuration
        configuration = configuration.replace(committed, here)
    if not Path("/etc/nginx/mime.types").exists():
        configuration = configuration.replace("include /etc/nginx/mime.types;", "")
    (folder / "nginx.conf").write_text(f"{'user root;' if os.geteuid() == 0 else ''}\n{configuration}")
    process = subprocess.Popen(
        [nginx_program(), "-p", folder, "-c", folder / "nginx.conf", "-g", "daemon off;"], stderr=subprocess.PIPE, text=True
    )
    try:
        _wait_for(process, port=nginx.port)
        yield nginx
    finally:
        process.terminate()
        process.communicate()


def _wait_for(process: subprocess.Popen[str], *, port: int) -> None:
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        try:
            # Plain HTTP on the TLS port: answered by nginx itself, and not logged as a request to us.
            httpx.get(f"http://127.0.0.1:{port}/")
            return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError(f"nginx did not start: {process.communicate()[1]}")
