"""Files that people bring have no name while they are read: a server that is killed leaves none of them behind."""

import re
from tempfile import TemporaryFile
from typing import IO

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopFutureHandlers

ADDRESSES = re.compile(r"/(api/v1/)?data-sets/")


class NamelessFileUploadHandler(FileUploadHandler):
    """Takes larger files of students' data, which hold their numbers. Small ones stay in memory, by the handler before this one."""

    file: IO[bytes] | None = None

    def new_file(
        self,
        field_name: str,
        file_name: str,
        content_type: str,
        content_length: int | None,
        charset: str | None = None,
        content_type_extra: dict[str, bytes] | None = None,
    ) -> None:
        super().new_file(field_name, file_name, content_type, content_length, charset, content_type_extra)
        self.file = None
        if self.request is not None and ADDRESSES.match(self.request.path_info):
            self.file = TemporaryFile()  # noqa: SIM115  # Django closes it with the request
            raise StopFutureHandlers

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        if self.file is None:
            return raw_data
        self.file.write(raw_data)
        return None

    def file_complete(self, file_size: int) -> UploadedFile | None:
        if self.file is None:
            return None
        self.file.seek(0)
        return UploadedFile(
            file=self.file, name=self.file_name, content_type=self.content_type, size=file_size, content_type_extra=self.content_type_extra
        )

    def upload_interrupted(self) -> None:
        if self.file is not None:
            self.file.close()
