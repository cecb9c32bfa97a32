"""Checks webhook addresses. People who run studies must not reach, through this server, computers that only this server can reach."""

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from candor.errors import what_came
from webhooks.errors import RefusedAddressError, WebhookError

LOCAL = ("localhost", "127.0.0.1", "::1")
TRANSLATED = IPv6Network("64:ff9b::/96")  # IPv4 behind a translator


def check_address(address: str, *, private_is_allowed: bool) -> None:
    """An https address without a login; http only to this computer itself, where private addresses are allowed."""
    if not address:
        raise WebhookError(_("Expected an https address, found nothing."))
    try:
        parts = urlsplit(address)
        host, _port = parts.hostname or "", parts.port
    except ValueError as error:
        raise WebhookError(_("Expected an https address, found %(found)s.") % {"found": what_came(address, most=100)}) from error
    local = private_is_allowed and parts.scheme == "http" and host in LOCAL
    if not host or not address.isascii() or not address.isprintable() or " " in address or (parts.scheme != "https" and not local):
        raise WebhookError(_("Expected an https address, found %(found)s.") % {"found": what_came(address, most=100)})
    if "@" in parts.netloc or parts.fragment:
        raise WebhookError(_("Expected an address without a login and without “#”."))
    try:
        literal = ip_address(host)
    except ValueError:
        return
    if not private_is_allowed and not is_public(literal):
        raise WebhookError(_("Expected an address on the public internet, found %(found)s.") % {"found": host})


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether this is an address of the public internet, also where IPv6 only wraps an IPv4 address."""
    if isinstance(address, IPv6Address):
        wrapped = address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1])
        if address in TRANSLATED:
            wrapped = IPv4Address(int(address) & 0xFFFFFFFF)
        if wrapped:
            return is_public(wrapped)
        if address.is_site_local:
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def resolve(host: str, port: int, *, private_is_allowed: bool) -> str:
    """The numeric address to connect to. All addresses of the name must be public, and the name is not looked up again afterwards."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    numbers = [str(entry[4][0]) for entry in found]
    if not private_is_allowed and not all(is_public(ip_address(number.partition("%")[0])) for number in numbers):
        raise RefusedAddressError("refused: the address does not lead to the public internet")
    return numbers[0]
