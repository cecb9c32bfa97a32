"""A provider of identities by SAML, made of lxml and xmlsec alone: honest answers, and forged ones."""

import base64
import copy
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import xmlsec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID
from lxml import etree

SAML, PROTOCOL, DS = "urn:oasis:names:tc:SAML:2.0:assertion", "urn:oasis:names:tc:SAML:2.0:protocol", "http://www.w3.org/2000/09/xmldsig#"
NAMES = {"saml": SAML, "samlp": PROTOCOL, "ds": DS}
ENTITY = "https://idp.example.edu/saml"
LOGIN, LOGOUT = "https://idp.example.edu/login", "https://idp.example.edu/logout"
PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
PERSON = {
    "urn:oid:0.9.2342.19200300.100.1.3": ["ada@example.edu"],
    "urn:oid:0.9.2342.19200300.100.1.1": ["ada"],
    "urn:oid:2.5.4.42": ["Ada"],
    "urn:oid:1.3.6.1.4.1.5923.1.5.1.1": ["researchers"],
}
Change = Callable[[Any], Any]


class Pair:
    """A key with a certificate that it signed itself, as PEM."""

    def __init__(self, name: str) -> None:
        self.private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        today = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(self.private.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(today - timedelta(days=1))
            .not_valid_after(today + timedelta(days=1))
            .sign(self.private, hashes.SHA256())
        )
        pkcs8, unencrypted = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        self.key = self.private.private_bytes(serialization.Encoding.PEM, pkcs8, unencrypted)
        self.certificate = certificate.public_bytes(serialization.Encoding.PEM)

    @classmethod
    def read(cls, key: bytes, certificate: bytes) -> "Pair":
        """One that another process made."""
        pair = cls.__new__(cls)
        private = serialization.load_pem_private_key(key, None)
        assert isinstance(private, rsa.RSAPrivateKey)
        pair.private, pair.key, pair.certificate = private, key, certificate
        return pair


class Asked:
    """A request for a login, read out of the address to which a site sent a browser."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.parameters = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        self.document = etree.fromstring(zlib.decompress(base64.b64decode(self.parameters["SAMLRequest"]), -15))
        self.number = self.document.get("ID")
        self.acs = self.document.get("AssertionConsumerServiceURL")
        self.site = self.document.findtext("saml:Issuer", namespaces=NAMES)


def at(minutes: float) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def answer(
    asked: Asked,
    pair: Pair,
    *,
    signed: tuple[str, ...] = ("Assertion",),
    before: Change | None = None,
    after: Change | None = None,
    encrypted_for: bytes | None = None,
    algorithm: str = "SHA256",
    **changes: Any,
) -> str:
    """The answer in base64. Changes come before or after it is signed; the rest of the names are those of `_text`."""
    document = etree.fromstring(_text(asked, **changes))
    if before:
        document = before(document)
    for name in signed:
        sign(document if name == "Response" else document.find("saml:Assertion", NAMES), pair, algorithm)
    if after:
        document = after(document)
    if encrypted_for:
        encrypt(document, encrypted_for)
    return base64.b64encode(etree.tostring(document)).decode()


def _text(
    asked: Asked,
    *,
    name_id: str = "person-1",
    name_format: str = PERSISTENT,
    attributes: dict[str, list[str]] | None = None,
    issuer: str = ENTITY,
    audience: str | None = "",
    recipient: str | None = "",
    answers: str | None = "",
    confirmed: str | None = "",
    starts: float = -1,
    ends: float | None = 5,
    confirmed_until: float | None = 5,
    status: str = "Success",
) -> str:
    """An empty text takes what was asked for, None leaves it out."""

    def given(value: str | None, asked_for: str) -> str | None:
        return asked_for if value == "" else value

    def written(name: str, value: str | None) -> str:
        return "" if value is None else f' {name}="{value}"'

    answers, audience = given(answers, asked.number), given(audience, asked.site)
    for_site = "" if audience is None else f"<saml:AudienceRestriction><saml:Audience>{audience}</saml:Audience></saml:AudienceRestriction>"
    confirmation = written("Recipient", given(recipient, asked.acs)) + written("InResponseTo", given(confirmed, asked.number))
    confirmation += written("NotOnOrAfter", None if confirmed_until is None else at(confirmed_until))
    told = "".join(
        f'<saml:Attribute Name="{name}">'
        + "".join(f"<saml:AttributeValue>{value}</saml:AttributeValue>" for value in values)
        + "</saml:Attribute>"
        for name, values in (PERSON if attributes is None else attributes).items()
    )
    return (
        f'<samlp:Response xmlns:samlp="{PROTOCOL}" xmlns:saml="{SAML}" ID="_response" Version="2.0" IssueInstant="{at(0)}"'
        f' Destination="{asked.acs}"{written("InResponseTo", answers)}><saml:Issuer>{issuer}</saml:Issuer>'
        f'<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:{status}"/></samlp:Status>'
        f'<saml:Assertion ID="_assertion" Version="2.0" IssueInstant="{at(0)}"><saml:Issuer>{issuer}</saml:Issuer>'
        f'<saml:Subject><saml:NameID Format="{name_format}">{name_id}</saml:NameID>'
        f'<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData{confirmation}/>'
        f'</saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="{at(starts)}"'
        f"{written('NotOnOrAfter', None if ends is None else at(ends))}>{for_site}</saml:Conditions>"
        f'<saml:AuthnStatement AuthnInstant="{at(0)}" SessionIndex="_session"><saml:AuthnContext><saml:AuthnContextClassRef>'
        "urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>"
        f"<saml:AttributeStatement>{told}</saml:AttributeStatement></saml:Assertion></samlp:Response>"
    )


def sign(node: Any, pair: Pair, algorithm: str = "SHA256") -> None:
    """An enveloped signature behind the issuer."""
    method, digest = getattr(xmlsec.Transform, f"RSA_{algorithm}"), getattr(xmlsec.Transform, algorithm)
    signature = xmlsec.template.create(node, xmlsec.Transform.EXCL_C14N, method, ns="ds")
    node.insert(1, signature)
    reference = xmlsec.template.add_reference(signature, digest, uri="#" + node.get("ID"))
    xmlsec.template.add_transform(reference, xmlsec.Transform.ENVELOPED)
    xmlsec.template.add_transform(reference, xmlsec.Transform.EXCL_C14N)
    xmlsec.template.add_x509_data(xmlsec.template.ensure_key_info(signature))
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_memory(pair.key, xmlsec.KeyFormat.PEM)
    context.key.load_cert_from_memory(pair.certificate, xmlsec.KeyFormat.PEM)
    xmlsec.tree.add_ids(node, ["ID"])
    context.sign(signature)


def encrypt(document: Any, certificate: bytes) -> None:
    """The assertion for the holder of a certificate's key."""
    assertion = document.find("saml:Assertion", NAMES)
    place = document.index(assertion)
    document.remove(assertion)
    around = etree.SubElement(document, f"{{{SAML}}}EncryptedAssertion")
    document.insert(place, around)
    data = xmlsec.template.encrypted_data_create(around, xmlsec.Transform.AES256, type=xmlsec.EncryptionType.ELEMENT, ns="xenc")
    xmlsec.template.encrypted_data_ensure_cipher_value(data)
    info = xmlsec.template.encrypted_data_ensure_key_info(data, ns="ds")
    key = xmlsec.template.add_encrypted_key(info, xmlsec.Transform.RSA_OAEP)
    xmlsec.template.encrypted_data_ensure_cipher_value(key)
    manager = xmlsec.KeysManager()
    manager.add_key(xmlsec.Key.from_memory(certificate, xmlsec.KeyFormat.CERT_PEM))
    context = xmlsec.EncryptionContext(manager)
    context.key = xmlsec.Key.generate(xmlsec.KeyData.AES, 256, xmlsec.KeyDataType.SESSION)
    alone = etree.fromstring(etree.tostring(assertion))
    around.append(context.encrypt_xml(data, alone))


def logout_request(destination: str, pair: Pair | None, *, name_id: str = "person-1") -> str:
    """The address at which a provider asks a site to end somebody's session, signed if there is a pair."""
    text = (
        f'<samlp:LogoutRequest xmlns:samlp="{PROTOCOL}" xmlns:saml="{SAML}" ID="_out" Version="2.0" IssueInstant="{at(0)}"'
        f' NotOnOrAfter="{at(5)}" Destination="{destination}"><saml:Issuer>{ENTITY}</saml:Issuer>'
        f'<saml:NameID Format="{PERSISTENT}">{name_id}</saml:NameID><samlp:SessionIndex>_session</samlp:SessionIndex></samlp:LogoutRequest>'
    )
    packed = base64.b64encode(zlib.compress(text.encode())[2:-4]).decode()
    if pair is None:
        return f"{destination}?{urlencode({'SAMLRequest': packed})}"
    signed = f"SAMLRequest={quote(packed, safe='')}&SigAlg={quote('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', safe='')}"
    signature = base64.b64encode(pair.private.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())).decode()
    return f"{destination}?{signed}&Signature={quote(signature, safe='')}"


def evil(assertion: Any) -> Any:
    """A copy without a signature, about somebody else."""
    forged = copy.deepcopy(assertion)
    for signature in forged.findall("ds:Signature", NAMES):
        forged.remove(signature)
    forged.set("ID", "_evil")
    forged.find("saml:Subject/saml:NameID", NAMES).text = "somebody-else"
    return forged


def beside(place: int) -> Change:
    """A forged assertion before or behind the signed one."""

    def change(document: Any) -> Any:
        document.insert(place, evil(document.find("saml:Assertion", NAMES)))
        return document

    return change


def wrapped(same_number: bool) -> Change:
    """The forged assertion takes the place of the signed one, which hides in an object of its signature."""

    def change(document: Any) -> Any:
        assertion = document.find("saml:Assertion", NAMES)
        forged, signature = evil(assertion), assertion.find("ds:Signature", NAMES)
        if same_number:
            forged.set("ID", assertion.get("ID"))
        document.replace(assertion, forged)
        assertion.remove(signature)
        etree.SubElement(signature, f"{{{DS}}}Object").append(assertion)
        forged.insert(1, signature)
        return document

    return change


def in_extensions(document: Any) -> Any:
    """The signed assertion hides among the extensions; the forged one bears its number."""
    assertion = document.find("saml:Assertion", NAMES)
    forged = evil(assertion)
    forged.set("ID", assertion.get("ID"))
    document.replace(assertion, forged)
    extensions = etree.Element(f"{{{PROTOCOL}}}Extensions")
    extensions.append(assertion)
    document.insert(1, extensions)
    return document


def inside_the_forged(document: Any) -> Any:
    """The signed assertion is a part of the forged one."""
    assertion = document.find("saml:Assertion", NAMES)
    forged = evil(assertion)
    document.replace(assertion, forged)
    forged.append(assertion)
    return document


def response_in_its_signature(document: Any) -> Any:
    """The forged response bears the signature, in which the signed one lies."""
    forged = copy.deepcopy(document)
    forged.set("ID", "_forged")
    forged.find("saml:Assertion/saml:Subject/saml:NameID", NAMES).text = "somebody-else"
    signature = forged.find("ds:Signature", NAMES)
    original = copy.deepcopy(document)
    original.remove(original.find("ds:Signature", NAMES))
    etree.SubElement(signature, f"{{{DS}}}Object").append(original)
    return forged


def renamed(document: Any) -> Any:
    """Another person under the signature."""
    document.find("saml:Assertion/saml:Subject/saml:NameID", NAMES).text = "somebody-else"
    return document


def promoted(document: Any) -> Any:
    """One group more under the signature."""
    values = document.findall(".//saml:AttributeValue", NAMES)
    values[-1].text = "ethics board"
    return document


def twice(document: Any) -> Any:
    """The signed assertion two times."""
    document.append(copy.deepcopy(document.find("saml:Assertion", NAMES)))
    return document


def without_signature_value(document: Any) -> Any:
    document.find(".//ds:SignatureValue", NAMES).text = ""
    return document
