"""Installs what the tests need, where permitted: Debian packages as root, a Chromium, and R."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HEADLESS_SHELL = "chromium-headless-shell"
"""Chromium without windows, tabs and their pages: it takes a third of the processor time to start."""
CHROMIUM_NAMES = (HEADLESS_SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def apt_install(package: str, *, needed: bool = True) -> bool:
    """Install a Debian package; False if this is not possible (not root, or not Debian).

    A package that is not `needed` is not waited for where there is no network.
    """
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    print(f"tests: installing {package} with apt-get", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    away = [] if needed else ["-o", "Acquire::http::Timeout=20", "-o", "Acquire::Retries=0"]
    for arguments in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", package]):
        if subprocess.run(["apt-get", *away, *arguments], env=environment, check=False, stdout=subprocess.DEVNULL).returncode:
            return False
    return True


def chromium() -> str | None:
    """The Chromium of this machine; None if there is none besides Playwright's own."""
    return next((found for name in CHROMIUM_NAMES if (found := shutil.which(name))), None)


def playwright_chromium() -> Path | None:
    """The Chromium that Playwright downloaded earlier."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = Path(playwright.chromium.executable_path)
    return path if path.exists() else None


def install_chromium() -> None:
    """Make sure that the browser tests find a Chromium; exit with instructions if that fails."""
    if (
        shutil.which(HEADLESS_SHELL)
        or apt_install(HEADLESS_SHELL, needed=not chromium())
        or chromium()
        or playwright_chromium()
        or apt_install("chromium")
    ):
        return
    if subprocess.run([sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"], check=False).returncode:
        sys.exit(
            "tests: no Chromium for the browser tests: install one (Debian: apt-get install chromium) or run `playwright install chromium`"
        )


def install_r() -> None:
    """Base R, for the program of a data package that needs no Candor: less than a minute. Its test fails where there is none."""
    if not shutil.which("Rscript") and not apt_install("r-base-core"):
        print("tests: no R: install it (Debian: apt-get install r-base-core)", flush=True)


def install_servers() -> None:
    """PgBouncer, and a Redis that knows TLS, which the wheel does not. The tests of many hosts fail where there is none."""
    for program, package in (("pgbouncer", "pgbouncer"), ("redis-server", "redis-server")):
        if not find_server(program) and not apt_install(package):
            print(f"tests: no {program}: install it (Debian: apt-get install {package})", flush=True)


def find_server(program: str) -> str | None:
    """Where the machine's own server is. Debian keeps some where only administrators look, and a wheel's Redis knows no TLS."""
    folders = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/sbin", "/usr/local/sbin"]
    return shutil.which(program, path=os.pathsep.join(one for one in folders if not Path(one).is_relative_to(sys.prefix)))


if __name__ == "__main__":
    install_chromium()
    install_r()
    install_servers()
