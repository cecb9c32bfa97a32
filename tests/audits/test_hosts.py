"""The composition for several hosts: what each part is on one machine, with the data elsewhere."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.sizing import stored, table
from config.outages.waits import LOCK_SECONDS, STATEMENT_SECONDS
from tests.audits.test_settings_are_documented import compose_variables
from tests.audits.tree import ROOT

FOLDER = ROOT / "deployment" / "hosts"
ROLES = ("data", "edge", "web", "worker")


class Loader(yaml.SafeLoader):
    """YAML with Compose's two tags."""


class Override(list[Any]):
    """In place of what is extended."""


class OverrideMapping(dict[str, Any]):
    """In place of what is extended."""


class Reset:
    """Nothing."""


def _override(loader: yaml.SafeLoader, node: yaml.Node) -> Override | OverrideMapping:
    if isinstance(node, yaml.SequenceNode):
        return Override(loader.construct_sequence(node, deep=True))
    assert isinstance(node, yaml.MappingNode)
    return OverrideMapping(loader.construct_mapping(node, deep=True))


Loader.add_constructor("!override", _override)
Loader.add_constructor("!reset", lambda _loader, _node: Reset())


def read(path: Path) -> dict[str, Any]:
    return dict(yaml.load(path.read_text(), Loader=Loader))


def service(path: Path, name: str) -> dict[str, Any]:
    """A service with all that it extends, as the Compose specification merges it."""
    own = dict(read(path)["services"][name])
    if above := own.pop("extends", None):
        base = service((path.parent / above["file"]).resolve(), above["service"])
        for key, value in own.items():
            if isinstance(value, Reset):
                base.pop(key, None)
            elif isinstance(value, dict) and not isinstance(value, OverrideMapping):
                base[key] = {**base.get(key, {}), **value}
            elif isinstance(value, list) and not isinstance(value, Override) and key != "command":
                base[key] = base.get(key, []) + value
            else:
                base[key] = value
        return base
    return own


def services(role: str) -> dict[str, dict[str, Any]]:
    path = FOLDER / f"{role}.yml"
    return {name: service(path, name) for name in read(path)["services"]}


def named_in(role: str) -> set[str]:
    texts = [(FOLDER / f"{role}.yml").read_text(), (FOLDER / "application.yml").read_text()]
    return {name for text in texts for name in re.findall(r"\$\{([A-Z_]+)", text)}


@pytest.mark.parametrize("role", ROLES)
def test_every_container_is_as_confined_as_on_one_machine(role: str) -> None:
    for name, one in services(role).items():
        assert one["read_only"] is True, name
        assert one["cap_drop"] == ["ALL"], name
        assert one["security_opt"] == ["no-new-privileges:true"], name
        assert {"mem_limit", "pids_limit"} <= set(one), name


@pytest.mark.parametrize("role", ROLES)
def test_what_a_service_names_is_there(role: str) -> None:
    composition = read(FOLDER / f"{role}.yml")
    for name, one in services(role).items():
        assert set(one["networks"]) <= set(composition["networks"]), name
        assert set(one.get("depends_on", {})) <= set(composition["services"]), name
        for volume in one.get("volumes", []):
            source = volume.split(":")[0]
            there = source.startswith("${") or source in composition["volumes"]
            assert there or (FOLDER / source).exists() or (ROOT / source).exists(), f"{name}: {volume}"


def test_only_the_edge_is_open_and_all_else_listens_on_the_private_address() -> None:
    for role in ROLES:
        for name, one in services(role).items():
            for port in one.get("ports", []):
                assert (role == "edge") or port.startswith("${PRIVATE_ADDRESS:?"), f"{name}: {port}"


def test_every_role_of_one_machine_is_somewhere() -> None:
    everywhere = {name for role in ROLES for name in services(role)}
    assert everywhere == {*read(ROOT / "docker-compose.yml")["services"], "pgbouncer"}


def test_web_and_workers_get_every_setting_and_connect_elsewhere() -> None:
    on_one = service(ROOT / "docker-compose.yml", "web")["environment"]
    for role, name in (("web", "web"), ("worker", "worker"), ("worker", "beat")):
        environment = services(role)[name]["environment"]
        assert set(on_one) <= set(environment)
        assert environment["DATABASE_URL"].startswith("${DATABASE_URL:?")
        assert environment["REDIS_URL"].startswith("${REDIS_URL:?")
    assert "candor_owner" in services("data")["migrate"]["environment"]["DATABASE_URL"]
    for name, one in services("data").items():
        if name == "postgres":
            kept = [word for word in service(ROOT / "docker-compose.yml", "postgres")["command"] if "log_" in word]
            assert set(kept) <= set(one["command"]), "no statement is logged here either"


def lines_of(name: str) -> list[str]:
    return (ROOT / "deployment" / name).read_text().splitlines()


def test_the_pool_of_connections_is_in_transaction_mode_knows_prepared_statements_and_logs_nobody() -> None:
    rules = set(lines_of("pgbouncer.ini"))
    assert {"pool_mode = transaction", "max_prepared_statements = 200", "client_tls_sslmode = require"} <= rules
    assert {f"log_{what} = 0" for what in ("connections", "disconnections", "pooler_errors", "stats")} <= rules
    web = next(line for line in lines_of("databases.ini") if line.startswith("candor_web"))
    assert f"lock_timeout = ''{LOCK_SECONDS}s''" in web
    assert f"statement_timeout = ''{STATEMENT_SECONDS}s''" in web
    assert "candor_work = host=postgres dbname=candor" in lines_of("databases.ini")
    pool = services("data")["pgbouncer"]
    assert f"{(FOLDER / pool['build']['context'] / pool['build']['dockerfile']).resolve()}" == f"{ROOT}/deployment/pgbouncer.Dockerfile"
    assert services("data")["migrate"]["environment"]["DATABASE_URL"].endswith("@postgres:5432/candor"), "not by the pool"
    written = (ROOT / "docs" / "operations.md").read_text()
    for line in (*lines_of("databases.ini")[3:], "pool_mode = transaction", "max_prepared_statements = 200", "log_connections = 0"):
        assert line in written, "the documentation shows other rules"


def test_no_password_stands_in_a_command() -> None:
    for role in ROLES:
        for name, one in services(role).items():
            assert not re.search(r"\$\{[A-Z_]*(PASSWORD|SECRET|TOKEN)", str(one.get("command", ""))), name


def test_every_variable_of_the_hosts_is_explained() -> None:
    table = re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs" / "deployment.md").read_text(), re.MULTILINE)
    named = {name for role in ROLES for name in named_in(role)}
    assert named - compose_variables() <= set(table) <= named


def test_the_table_of_sizes_is_the_computed_one() -> None:
    assert "\n".join(table(stored())) in (ROOT / "docs" / "operations.md").read_text()
