"""A release as a deposit describes it: the facts that its files have, and no more."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from analysis.models import PUBLIC_RELEASES, Release
from analysis.packages.licences import LICENCES, Licence
from surveys.questions.publication import Publication

NOT_YET = (
    "This deposit was reserved for data that wait for the approval of their ethics board. It holds nothing yet; once they are approved, "
    "the data and their description come here."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """`about` is one paragraph. Before the approval it tells nothing of the data, and `year` is that of the request."""

    name: str
    title: str
    about: str
    address: str
    version: int
    publication: Publication
    keywords: Sequence[str]
    licence: Licence
    published_on: str
    """The day of the approval; empty before it."""

    @property
    def notes(self) -> list[str]:
        """Sentences for which services have no place of their own."""
        known = self.publication
        found = [f"The same data stand at {self.address}, signed, with everything that is needed to compute each number again."]
        found += [f"Funded by {one.funder}{f', award {one.award}' if one.award else ''}." for one in known.funding]
        if known.collected:
            found.append(f"Collected {known.collected.interval.replace('/', ' to ')}.")
        return found

    @property
    def html(self) -> str:
        """The paragraph and the sentences, for services that show HTML."""
        return "".join(f"<p>{escape(text)}</p>" for text in (self.about, *self.notes))


def description_of(release: Release) -> Description:
    """Title, authors and address, before the data are approved; then all that its public page says, or said until a retraction."""
    public, known = release.status in PUBLIC_RELEASES, release.described
    about = str(release.summary.get("description", "")) if public else ""
    return Description(
        name=f"{release.study.slug}-{release.version}",
        title=release.title,
        about=about or NOT_YET,
        address=f"{release.site}/data/{release.study.slug}/{release.version}/",
        version=release.version,
        publication=known,
        keywords=list(dict.fromkeys(["randomised response", "local differential privacy", *known.keywords])),
        licence=LICENCES[release.licence],
        published_on=release.decided_on.isoformat() if public and release.decided_on else "",
    )
