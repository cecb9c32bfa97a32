"""People, institutions and funding as schema.org has them: for Croissant, for the RO-Crate, and for the public page."""

from analysis.packages.content import Described
from surveys.questions.publication import CREDIT_SITE, Creator, Publication

DOI_SITE = "https://doi.org/"
DATACITE = "datacite.xml"
"""The file that `analysis.packages.archives.datacite` writes."""


def people(publication: Publication) -> list[dict[str, object]]:
    """The creators, each with all that is known."""
    return [person(one) for one in publication.creators]


def person(creator: Creator) -> dict[str, object]:
    """A person, or any other name, with the parts of the name, the ORCID and the institution that are known."""
    found: dict[str, object] = {"@type": "Person", "name": creator.name}
    if creator.parts:
        found |= {"familyName": creator.parts[0], "givenName": creator.parts[1]}
    if creator.orcid:
        found |= {"@id": creator.orcid_address, "identifier": creator.orcid_address}
    if creator.institution:
        found["affiliation"] = organisation(creator.institution, creator.ror)
    return found


def organisation(name: str, ror: str | None) -> dict[str, object]:
    found: dict[str, object] = {"@type": "Organization", "name": name}
    return found | ({"@id": ror, "identifier": ror} if ror else {})


def facts(content: Described) -> dict[str, object]:
    """All that a data set says beside its title, text and files; what is not known is left out."""
    return facts_of(content.publication, doi=content.doi)


def facts_of(publication: Publication, *, doi: str) -> dict[str, object]:
    found: dict[str, object] = {"creator": people(publication)}
    if roles := [one for one in publication.creators if one.roles]:
        found["contributor"] = [
            {"@type": "Role", "contributor": person(one), "roleName": [f"{CREDIT_SITE}{role}/" for role in one.roles]} for one in roles
        ]
    if doi:
        found["sameAs"] = f"{DOI_SITE}{doi}"
    if publication.funding:
        found["funding"] = [
            {"@type": "Grant", "funder": organisation(one.funder, one.ror)} | ({"identifier": one.award} if one.award else {})
            for one in publication.funding
        ]
    if publication.contact:
        point: dict[str, object] = {"@type": "ContactPoint", "contactType": "data", "name": publication.contact.name}
        found["contactPoint"] = point | ({"email": publication.contact.email} if publication.contact.email else {})
    if publication.collected:
        found["temporalCoverage"] = publication.collected.interval
    return found
