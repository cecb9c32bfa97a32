"""A storage of Django on a bucket, by django-storages. Imported by the settings of installations that have one, and by nobody else."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from tempfile import TemporaryFile
from typing import IO

from boto3.exceptions import Boto3Error
from boto3.resources.base import ServiceResource
from boto3.s3.transfer import TransferConfig
from botocore.client import BaseClient
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files import File
from storages.backends.s3 import S3Storage

from surveys.media.stores.addresses import Bucket, Keys
from surveys.media.stores.errors import StoreAwayError

CHUNK_BYTES = 64 * 1024
CONNECT_SECONDS, READ_SECONDS, TRIES = 3, 20, 2
CONNECTIONS = 32
NOT_FOUND = 404


class ObjectStore(S3Storage):  # type: ignore[misc]  # it has no types
    """Private objects, each written whole or not at all. A missing one is a FileNotFoundError, every other failure a StoreAwayError."""

    def __init__(self, *, place: Bucket, keys: Keys) -> None:
        self.place = place
        self._building = threading.Lock()
        super().__init__(
            access_key=keys.key or None,
            secret_key=keys.secret or None,
            bucket_name=place.bucket,
            location=place.prefix,
            endpoint_url=place.endpoint or None,
            region_name=place.region,
            default_acl=None,  # the bucket's own: private
            querystring_auth=True,
            file_overwrite=True,  # names are drawn at random: nothing else has this one, and no question is needed
            custom_domain=None,
            gzip=False,
            object_parameters={},
            transfer_config=TransferConfig(max_concurrency=4),
            client_config=Config(
                s3={"addressing_style": place.addressing},
                signature_version="s3v4",
                connect_timeout=CONNECT_SECONDS,
                read_timeout=READ_SECONDS,
                retries={"total_max_attempts": TRIES, "mode": "standard"},
                max_pool_connections=CONNECTIONS,
                # Stores of other makers refuse the newer checksums; the SHA-256 of every file is compared here.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )

    def read(self, name: str, part: range) -> "StoredPart":
        """The bytes of a file between two positions, as they come."""
        with asked():
            answer = self._client.get_object(
                Bucket=self.bucket_name, Key=self._normalize_name(name), Range=f"bytes={part.start}-{part.stop - 1}"
            )
        return StoredPart(answer["Body"], len(part))

    def link(self, name: str, *, content_type: str, cache_control: str, seconds: int) -> str:
        """An address at the store where this one file can be had, in whole or in parts, for so many seconds."""
        parameters = {"ResponseContentType": content_type, "ResponseCacheControl": cache_control}
        with asked():
            return str(self.url(name, parameters=parameters, expire=seconds))

    def listdir(self, name: str) -> tuple[list[str], list[str]]:
        with asked():
            folders, files = super().listdir(name)
            return list(folders), list(files)

    def size(self, name: str) -> int:
        with asked():
            return int(super().size(name))

    def exists(self, name: str) -> bool:
        with asked():
            return bool(super().exists(name))

    def delete(self, name: str) -> None:
        with asked():
            super().delete(name)

    def close(self) -> None:
        """End the connections."""
        self._client.close()

    def _save(self, name: str, content: File) -> str:  # type: ignore[type-arg]
        with asked():
            return str(super()._save(name, content))

    def _open(self, name: str, mode: str = "rb") -> File:  # type: ignore[type-arg]
        """The whole file, on this computer's disk while it is open: what fails, fails here and not at some later byte."""
        if mode != "rb":
            raise ValueError(f"expected to open a stored file for reading bytes, got mode {mode!r}")
        held: IO[bytes] = TemporaryFile()  # noqa: SIM115  # closed with the file
        try:
            with asked():
                self._client.download_fileobj(self.bucket_name, self._normalize_name(name), held, Config=self.transfer_config)
        except BaseException:
            held.close()
            raise
        held.seek(0)
        return File(held, name=name)

    @property
    def connection(self) -> ServiceResource:
        """One for all threads, which share its connections: django-storages' own, one for each thread, costs each 0.1 s."""
        with self._building:
            return self._built

    @property
    def _client(self) -> BaseClient:
        return self.connection.meta.client

    @cached_property
    def _built(self) -> ServiceResource:
        return self._create_session().resource(
            "s3", region_name=self.region_name, endpoint_url=self.endpoint_url, config=self.client_config, verify=self.verify
        )


class StoredPart:
    """The bytes of a file as they come; the server closes it, also when the browser hangs up. Fewer than promised are an error, no end."""

    def __init__(self, body: IO[bytes], length: int) -> None:
        self._body, self._left = body, length

    def __iter__(self) -> Iterator[bytes]:
        while self._left > 0:
            with asked():
                chunk = self._body.read(min(CHUNK_BYTES, self._left))
            if not chunk:
                raise StoreAwayError("it hung up")
            self._left -= len(chunk)
            yield chunk
        self.close()  # gives the connection back

    def close(self) -> None:
        self._body.close()


@contextmanager
def asked() -> Iterator[None]:
    """Around a question to the store: its errors become ours, without the names, addresses and signatures that theirs hold."""
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") == NOT_FOUND and code != "NoSuchBucket":
            raise FileNotFoundError("The store has no such file.") from None
        raise StoreAwayError(f"{error.operation_name}: {code}") from None
    except (BotoCoreError, Boto3Error) as error:
        raise StoreAwayError(type(error).__name__) from None
