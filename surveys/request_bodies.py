"""Request bodies: bytes up to a size, and study files as text."""

from collections.abc import Mapping
from typing import IO, Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from surveys import study_file


class LimitedBytes(BaseParser):
    """The body as it is, up to `most` bytes."""

    what: str
    most: int

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, object] | None = None) -> Any:
        content = stream.read(self.most + 1)
        if len(content) > self.most:
            raise ParseError(_("Expected %(what)s of at most %(most)s bytes.") % {"what": self.what, "most": f"{self.most:,}"})
        return content


class YamlText(LimitedBytes):
    """The body as text, for `read_study_file`, whose errors name lines."""

    media_type = "application/yaml"
    what, most = "a study file", study_file.MAXIMUM_BYTES

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, object] | None = None) -> Any:
        content = super().parse(stream, media_type, parser_context)
        try:
            return str(content, "utf-8-sig")
        except UnicodeDecodeError as error:
            raise ParseError(
                _("Expected text in UTF-8, found another byte at position %(position)s.") % {"position": error.start}
            ) from error


class JsonText(YamlText):
    media_type = "application/json"


class MergePatchText(YamlText):
    """RFC 7396."""

    media_type = "application/merge-patch+json"
