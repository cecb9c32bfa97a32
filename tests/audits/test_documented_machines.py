"""The commands with which docs/deployment.md restores several machines name what the compositions and the chart have."""

import re
import shlex

from tests.audits.test_chart import MOST, named, pods
from tests.audits.test_hosts import services
from tests.audits.tree import ROOT
from tests.helm import rendered

OF_ONE_MACHINE = ROOT / "docs" / "operations.md"
PAGE = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8").partition("## Back up and restore")[2].partition("\n## ")[0]
HOSTS, CLUSTER = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
FILES = "/var/lib/candor/media"


def test_the_commands_on_several_hosts_name_services_that_are_there() -> None:
    found = re.findall(r"--file deployment/hosts/(\w+)\.yml --env-file \.env (stop|run|exec|up)((?: -\S+)*)(?: (\w+))?", HOSTS)
    assert {role for role, *_ in found} == {"data", "edge", "web", "worker"}
    unknown = [(role, name) for role, _, _, name in found if name and name not in services(role)]
    assert unknown == []
    stopped, restored, let_in = (HOSTS.index(part) for part in ("edge.yml", "pg_restore", "worker.yml --env-file .env up"))
    assert stopped < HOSTS.index("stop pgbouncer") < restored < HOSTS.index("replay") < let_in


def test_every_machine_restores_as_the_tested_commands_of_one_do() -> None:
    def options(text: str) -> set[str]:
        [line] = re.findall(r"pg_restore (.*?)(?:<|candor\.dump)", text)
        return {one for one in shlex.split(line) if not one.startswith(("--username", "--dbname"))}

    assert options(HOSTS) == options(CLUSTER) == options(OF_ONE_MACHINE.read_text(encoding="utf-8"))


def test_the_commands_on_kubernetes_name_what_the_chart_makes() -> None:
    objects = rendered(MOST)
    commands = re.findall(r" (deployment|job)/(candor-[\w-]+)(?: --container (\w+))?", CLUSTER)
    assert {name for _, name, _ in commands} == {"candor-migrate", "candor-web"}
    for kind, name, container in commands:
        found = named(objects, kind.capitalize(), name)
        if container:
            [one] = [one for one in found["spec"]["template"]["spec"]["containers"] if one["name"] == container]
            assert FILES in {mount["mountPath"] for mount in one["volumeMounts"]}
    [label, value] = set(re.findall(r"(app\.kubernetes\.io/instance)=(\w+)", CLUSTER)).pop()
    deployments = [one for one in objects if one["kind"] == "Deployment"]
    assert len(deployments) < len(list(pods(objects))), "jobs are not scaled"
    assert all(one["metadata"]["labels"][label] == value for one in deployments)
    assert all(one["spec"]["template"]["metadata"]["labels"][label] == value for one in deployments)
    hooks = {one["metadata"]["name"] for one in objects if "helm.sh/hook" in one["metadata"].get("annotations", {})}
    assert {"candor-roles", "candor-migrate"} <= hooks, "`helm get hooks` brings them"
    assert "replay" in CLUSTER.partition("replicas=1")[2], "the first pages repeat what the back-up does not know"
