"""All that a study can say for its citation, as its file has it."""

from surveys.questions.publication import Publication

FULL: dict[str, object] = {
    "creators": [
        {
            "name": "Lovelace, Ada",
            "orcid": "0000-0002-1825-0097",
            "institution": "University of London",
            "ror": "https://ror.org/04cw6st05",
            "roles": ["conceptualization", "data-curation"],
        },
        {"name": "Hopper, Grace"},
    ],
    "funding": [{"funder": "Deutsche Forschungsgemeinschaft", "ror": "https://ror.org/018mejw64", "award": "LO 1842/1"}],
    "keywords": ["attention", "lectures"],
    "contact": {"name": "Data office", "email": "data@uni.example"},
    "collected": {"first": "2026-10", "last": "2026-12"},
}
PUBLICATION = Publication.model_validate(FULL)
