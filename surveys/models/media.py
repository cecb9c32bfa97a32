"""Videos, captions and posters."""

import uuid
from collections.abc import Mapping
from typing import TypedDict

from django.db import models

from surveys.models.studies import Study


class MediaFacts(TypedDict):
    """The facts about a file that a protocol keeps."""

    id: str
    media_type: str
    sha256: str
    duration_seconds: float | None


Media = Mapping[str, MediaFacts]
"""By the names in the study file."""


def place_of_media(study_id: int, media_id: uuid.UUID) -> str:
    """The storage path of a file."""
    return f"studies/{study_id}/{media_id.hex}"


def media_path(media: "MediaFile", name: str) -> str:
    return place_of_media(media.study_id, media.id)


class MediaFile(models.Model):
    """A checked video, captions or poster. Its random id is its address; participants never see the file name."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="media_files")
    name = models.CharField(max_length=100)
    file = models.FileField(upload_to=media_path)
    media_type = models.CharField(max_length=100)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    duration_seconds = models.FloatField(null=True, blank=True)
    current = models.BooleanField(default=True, help_text="The newest file of this name; older ones stay for the protocols that use them.")

    class Meta:
        ordering = ("study", "name")
        constraints = (
            models.UniqueConstraint(fields=("study", "name"), condition=models.Q(current=True), name="one_current_file_of_a_name"),
        )

    def __str__(self) -> str:
        return self.name
