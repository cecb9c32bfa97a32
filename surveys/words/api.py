"""Short texts, for programs."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import person_of
from audit.services import record_once_a_day
from surveys import actions
from surveys.access import access_own_study
from surveys.words.selectors import Words, words_of
from surveys.words.serializers import WrittenWordsSerializer


class WrittenWords(APIView):
    """The words that people wrote, once the study is closed."""

    @extend_schema(operation_id="studies_words", responses=WrittenWordsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        seat = access_own_study(user, slug)
        found = words_of(seat)
        if found:
            record_once_a_day(actor=user, action=actions.WORDS_READ, subject=seat.study)
        words = None if found is None else [_shown(one) for one in found]
        return Response(WrittenWordsSerializer({"study": slug, "words": words}).data)


def _shown(one: Words) -> dict[str, object]:
    texts = None if one.texts is None else [{"text": text, "people": people} for text, people in one.texts]
    return {"question": one.question, "texts": texts}
