"""datacite.xml: the data described in the DataCite Metadata Schema 4.5, for those who register a DOI and for those who look one up."""

from typing import cast

from lxml import etree

from analysis.packages.content import SIMULATED_DATA, Content, Described
from surveys.questions.publication import ORCID_SITE, ROR_SITE, Creator

NAMESPACE = "http://datacite.org/schema/kernel-4"
SCHEMA = "https://schema.datacite.org/meta/kernel-4.5/metadata.xsd"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
NAMESPACES = cast("dict[str, str]", {None: NAMESPACE, "xsi": XSI})  # the stubs do not know the nameless one
CONTRIBUTIONS = {
    "data-curation": "DataCurator",
    "investigation": "DataCollector",
    "project-administration": "ProjectManager",
    "supervision": "Supervisor",
}
"""The roles that DataCite knows, too; it has no place for the others."""
UNREADABLE = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "�")


def datacite(content: Described) -> bytes:
    """Elements in the order of the standard. Without a DOI the address of the data identifies them."""
    known = content.publication
    root = etree.Element(f"{{{NAMESPACE}}}resource", nsmap=NAMESPACES)
    root.set(f"{{{XSI}}}schemaLocation", f"{NAMESPACE} {SCHEMA}")
    _add(root, "identifier", content.doi or content.address, identifierType="DOI" if content.doi else "URL")
    creators = _add(root, "creators")
    for creator in known.creators:
        _person(_add(creators, "creator"), "creatorName", creator)
    _add(_add(root, "titles"), "title", content.title)
    _add(root, "publisher", content.site)
    _add(root, "publicationYear", str(content.year))
    _add(root, "resourceType", _kind(content), resourceTypeGeneral="Dataset")
    subjects = _add(root, "subjects")
    for keyword in content.keywords:
        _add(subjects, "subject", keyword)
    _contributors(root, content)
    if known.collected:
        _add(_add(root, "dates"), "date", known.collected.interval, dateType="Collected")
    _add(root, "language", "en")
    if content.doi:
        _add(_add(root, "alternateIdentifiers"), "alternateIdentifier", content.address, alternateIdentifierType="URL")
    _add(_add(root, "formats"), "format", "application/zip")
    _add(root, "version", str(content.version))
    scheme = {"rightsIdentifier": content.licence.name, "rightsIdentifierScheme": "SPDX", "schemeURI": "https://spdx.org/licenses/"}
    _add(_add(root, "rightsList"), "rights", content.terms, rightsURI=content.licence.address, **scheme)
    _add(_add(root, "descriptions"), "description", content.description, descriptionType="Abstract")
    _funding(root, content)
    return bytes(etree.tostring(root, encoding="UTF-8", xml_declaration=True, pretty_print=True))


def _add(parent: etree._Element, element: str, text: str | None = None, **attributes: str) -> etree._Element:
    child = etree.SubElement(parent, f"{{{NAMESPACE}}}{element}", attributes)
    child.text = text and text.translate(UNREADABLE)
    return child


def _kind(content: Described) -> str:
    kind = "Protected records"
    if isinstance(content, Content):
        kind = "Survey data" if content.is_survey else "Experimental data"
    return f"{kind}, {SIMULATED_DATA}" if content.simulated else kind


def _person(parent: etree._Element, element: str, creator: Creator) -> None:
    if creator.parts:
        _add(parent, element, creator.name, nameType="Personal")
        _add(parent, "givenName", creator.parts[1])
        _add(parent, "familyName", creator.parts[0])
    else:
        _add(parent, element, creator.name)
    if creator.orcid:
        _add(parent, "nameIdentifier", creator.orcid_address, nameIdentifierScheme="ORCID", schemeURI=ORCID_SITE)
    if creator.institution:
        known = {"affiliationIdentifier": creator.ror, "affiliationIdentifierScheme": "ROR", "schemeURI": ROR_SITE} if creator.ror else {}
        _add(parent, "affiliation", creator.institution, **known)


def _contributors(root: etree._Element, content: Described) -> None:
    """The contact, and the creators once more for the roles that DataCite knows."""
    known = content.publication
    shared = [(one, CONTRIBUTIONS[role]) for one in known.creators for role in one.roles if role in CONTRIBUTIONS]
    if not (known.contact or shared):
        return
    contributors = _add(root, "contributors")
    if known.contact:
        _add(_add(contributors, "contributor", contributorType="ContactPerson"), "contributorName", known.contact.name)
    for creator, kind in shared:
        _person(_add(contributors, "contributor", contributorType=kind), "contributorName", creator)


def _funding(root: etree._Element, content: Described) -> None:
    if not content.publication.funding:
        return
    references = _add(root, "fundingReferences")
    for grant in content.publication.funding:
        reference = _add(references, "fundingReference")
        _add(reference, "funderName", grant.funder)
        if grant.ror:
            _add(reference, "funderIdentifier", grant.ror, funderIdentifierType="ROR", schemeURI=ROR_SITE)
        if grant.award:
            _add(reference, "awardNumber", grant.award)
