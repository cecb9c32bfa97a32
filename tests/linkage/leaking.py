"""A host that leaks on purpose, for tests of the attacks: it tells open pages a version for each person who finishes."""

from collections.abc import Mapping

from config.wsgi import application as application  # reads the settings, so that models can be imported
from surveys.journey import services as participation
from surveys.models import Participant

record_responses = participation.record_responses


def record_and_tell(person: Participant, *, reported: Mapping[str, bool], chosen: Mapping[str, int]) -> None:
    from analysis.news import announcing

    record_responses(person, reported=reported, chosen=chosen)
    announcing.version_of_results = lambda _study: str(person.pk)
    announcing._announce(person.study_id)


participation.record_responses = record_and_tell
