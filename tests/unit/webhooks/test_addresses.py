"""Messages go to the public internet only: not to this computer, its network, or what an address merely wraps."""

import socket
from ipaddress import ip_address
from typing import Any

import pytest
from django.utils import translation

from webhooks.addresses import check_address, is_public, resolve
from webhooks.errors import RefusedAddressError, WebhookError


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",  # where cloud machines keep their secrets
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fec0::1",  # the networks of sites before fd00::/8
        "::7f00:1",
        "fd00::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "ff02::1",
        "fd00::5db8:d822",  # only what is behind a translator is judged by its last four bytes
    ],
)
def test_addresses_that_only_this_computer_reaches_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "93.184.216.34",
        "2606:2800:220:1:248:1893:25c8:1946",
        "64:ff9b::5db8:d822",
        "::ffff:93.184.216.34",
        "2002:5db8:d822::1",
        "2001:0:4136:e378:8000:63bf:a247:27dd",
    ],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "http://lab.example.org/",
        "http://localhost:8000/",
        "http://127.0.0.1/",
        "https://münchen.example.org/",
        "https://lab.example.org/\x7f",
        "ftp://lab.example.org/",
        "https://",
        "https://user:password@lab.example.org/",
        "https://lab.example.org/#part",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://10.0.0.1:8443/hook",
        "https://lab.example.org:99999/",
        "https://lab example.org/",
        "https://lab.example.org/\r\nHost: other",
        "lab.example.org",
        "",
    ],
)
def test_an_address_that_is_not_https_on_the_internet_is_refused(address: str) -> None:
    with pytest.raises(WebhookError):
        check_address(address, private_is_allowed=False)


def test_an_empty_address_is_called_nothing() -> None:
    with pytest.raises(WebhookError, match=r"^Expected an https address, found nothing\.$"):
        check_address("", private_is_allowed=False)
    with translation.override("de"), pytest.raises(WebhookError, match=r"^Erwartet wird eine https-Adresse, gefunden wurde keine\.$"):
        check_address("", private_is_allowed=False)


def test_https_is_taken_and_in_development_this_computer_too() -> None:
    check_address("https://lab.example.org:8443/hooks?for=candor", private_is_allowed=False)
    check_address("https://93.184.216.34/", private_is_allowed=False)
    for local in ("http://localhost:8000/", "https://10.0.0.1/"):
        check_address(local, private_is_allowed=True)
    for refused in ("http://lab.example.org/", "ftp://localhost/"):
        with pytest.raises(WebhookError):
            check_address(refused, private_is_allowed=True)


def test_a_name_that_stands_for_one_private_address_among_others_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_up(*numbers: str) -> Any:
        return lambda host, port, **options: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (number, port)) for number in numbers]

    monkeypatch.setattr(socket, "getaddrinfo", looked_up("93.184.216.34", "10.0.0.1"))
    with pytest.raises(RefusedAddressError):
        resolve("lab.example.org", 443, private_is_allowed=False)
    assert resolve("lab.example.org", 443, private_is_allowed=True) == "93.184.216.34"
    monkeypatch.setattr(socket, "getaddrinfo", looked_up("93.184.216.34"))
    assert resolve("lab.example.org", 443, private_is_allowed=False) == "93.184.216.34"
