"""The Helm chart: what it makes is what Kubernetes takes, and holds the promises that the containers of one machine hold."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from candor.software import __version__
from tests.audits.test_settings_are_documented import EMBEDDED_ONLY, settings_read
from tests.audits.tree import ROOT
from tests.helm import CHART, Object, faults, rendered, run_helm

VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
LEAST: Object = {"settings": {"ALLOWED_HOSTS": "trial.example.org"}}
MOST: Object = {
    "settings": {"ALLOWED_HOSTS": "trial.example.org", "REQUIRE_MFA": 1},
    "secrets": {"superuser": "candor-superuser", "redisCa": "redis-ca"},
    "pgbouncer": {
        "enabled": True,
        "image": "registry.example.org/candor-pgbouncer:1.24.1",
        "host": "db.example.org",
        "certificate": "pool",
    },
    "network": {"media": {"to": [{"ipBlock": {"cidr": "192.0.2.7/32"}}]}},
    "ingress": {"enabled": True},
    "monitoring": {"enabled": True},
    "keda": {"enabled": True},
}
OF_OPERATORS = {"ScaledObject", "ServiceMonitor", "PrometheusRule"}
# The image sets these, or the chart does from its own values.
SET_ELSEWHERE = {
    *("MEDIA_ROOT", "CANDOR_VAR", "LANGUAGES_FOLDER", "PROMETHEUS_MULTIPROC_DIR"),
    *("MEDIA_ACCEL_PREFIX", "CANDOR_QUEUES", "REDIS_CA_FILE"),
}


@pytest.fixture(scope="module", params=[LEAST, MOST], ids=["least", "most"])
def objects(request: pytest.FixtureRequest) -> list[Object]:
    return rendered(request.param)


def named(objects: list[Object], kind: str, name: str) -> Object:
    (found,) = (one for one in objects if one["kind"] == kind and one["metadata"]["name"] == name)
    return found


def pods(objects: list[Object]) -> Iterator[tuple[str, Object]]:
    """The name of each workload, and its pods' specification."""
    for one in objects:
        if one["kind"] in ("Deployment", "Job"):
            yield one["metadata"]["name"], one["spec"]["template"]["spec"]


def containers(objects: list[Object]) -> Iterator[tuple[str, Object]]:
    for name, pod in pods(objects):
        for container in pod["containers"] + pod.get("initContainers", []):
            yield f"{name}: {container['name']}", container


@pytest.mark.parametrize("values", [LEAST, MOST], ids=["least", "most"])
def test_helm_finds_nothing_to_complain_about(values: Object) -> None:
    done = run_helm("lint --strict", str(CHART), values=values)
    assert done.returncode == 0, done.stdout
    assert "[WARNING]" not in done.stdout


def test_kubernetes_takes_every_object(objects: list[Object]) -> None:
    found = {f"{one['kind']} {one['metadata']['name']}": faults(one) for one in objects}
    assert {name: what for name, what in found.items() if what} == {}
    assert {name.split()[0] for name, what in found.items() if what is None} <= OF_OPERATORS
    assert len(set(found)) == len(objects), "two objects of one kind and name"


def test_the_schemas_do_refuse() -> None:
    """A control: a misspelt name is a fault."""
    wrong = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"porst": []}}
    assert faults(wrong)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "ALLOWED_HOSTS"),
        ({"settings": {"ALLOWED_HOSTS": "a", "SECRET_KEY": "in the open"}}, "additional properties 'SECRET_KEY' not allowed"),
        ({**LEAST, "web": {"replica": 3}}, "additional properties 'replica' not allowed"),
        ({**LEAST, "workers": {"mail": None}}, "found none for mail"),
        ({**LEAST, "workers": {"own": {**VALUES["workers"]["mail"], "queues": ["letters"]}}}, "own"),
        ({**LEAST, "pgbouncer": {"enabled": True, "image": "pool:1"}}, "pgbouncer.host: expected the address of your PostgreSQL"),
        ({**LEAST, "pgbouncer": {"enabled": True, "host": "db"}}, "pgbouncer.image: expected an image"),
    ],
    ids=[
        *("no host", "a secret", "a misspelt value", "a queue without workers", "a queue that nobody knows"),
        *("a pool before no database", "a pool without an image"),
    ],
)
def test_values_that_cannot_be_right_are_refused_and_named(values: Object, said: str) -> None:
    done = run_helm("template candor", str(CHART), values=values)
    assert done.returncode != 0
    assert said in done.stderr


def test_every_pod_is_confined(objects: list[Object]) -> None:
    """No root, no capabilities, a root that cannot be written, bounds, and no rights at the cluster."""
    for name, pod in pods(objects):
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["runAsUser"] > 0, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod), name
    for name, container in containers(objects):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, name
        assert {"cpu", "memory"} <= set(container["resources"]["requests"]), name
        assert "memory" in container["resources"]["limits"], name
        assert not container["image"].endswith(":latest"), name


def test_every_volume_that_is_mounted_is_there(objects: list[Object]) -> None:
    for name, pod in pods(objects):
        there = {volume["name"] for volume in pod.get("volumes", [])}
        mounted = {mount["name"] for one in pod["containers"] + pod.get("initContainers", []) for mount in one.get("volumeMounts", [])}
        assert mounted == there, name


def test_the_tables_are_there_before_the_first_new_process(objects: list[Object]) -> None:
    weights = {}
    for one in objects:
        annotations = one["metadata"].get("annotations", {})
        if "helm.sh/hook" in annotations:
            assert annotations["helm.sh/hook"] == "pre-install,pre-upgrade"
            weights[f"{one['kind']} {one['metadata']['name']}"] = int(annotations["helm.sh/hook-weight"])
    assert "Job candor-migrate" in weights
    assert weights.get("ConfigMap candor-roles", -3) < weights.get("Job candor-roles", -2) < weights["Job candor-migrate"]
    command = named(objects, "Job", "candor-migrate")["spec"]["template"]["spec"]["containers"][0]["command"]
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert command == compose["migrate"]["command"]


def test_only_migrations_connect_as_the_owner_and_secrets_are_named_and_never_told(objects: list[Object]) -> None:
    read_from: dict[str, str] = {}
    for name, container in containers(objects):
        for variable in container.get("env", []):
            if variable["name"] == "DATABASE_URL":
                read_from[name] = variable["valueFrom"]["secretKeyRef"]["name"]
    assert {secret for name, secret in read_from.items() if name == "candor-migrate: migrate"} == {"candor-migrations"}
    assert {secret for name, secret in read_from.items() if name != "candor-migrate: migrate"} == {"candor"}
    assert [one for one in objects if one["kind"] == "Secret"] == []


def secret_variables() -> dict[str, list[str]]:
    text = (CHART / "templates" / "_helpers.tpl").read_text()
    [listed] = re.findall(r'define "candor.secretVariables" -\}\}\n(.*?)\{\{- end', text, re.DOTALL)
    return dict(yaml.safe_load(listed))


def test_the_chart_knows_every_setting_and_no_other() -> None:
    """A setting that is no value, no secret and not set by the image could not be given; one that nobody reads would be without effect."""
    schema = yaml.safe_load((CHART / "values.schema.json").read_text())
    values, secrets = set(schema["properties"]["settings"]["properties"]), {name for each in secret_variables().values() for name in each}
    assert values & secrets == set()
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    read = (settings_read() | set(compose["services"]["web"]["environment"])) - EMBEDDED_ONLY - SET_ELSEWHERE
    assert read - values - secrets == set(), "cannot be given"
    assert (values | secrets) <= read, "nobody reads these"
    assert {name for name in values if re.search("SECRET|PASSWORD|TOKEN|_KEY$", name)} == set(), "these are secrets"


def test_a_process_lives_without_a_database_and_is_ready_only_with_its_tables(objects: list[Object]) -> None:
    [web] = named(objects, "Deployment", "candor-web")["spec"]["template"]["spec"]["containers"]
    assert web["livenessProbe"]["httpGet"]["path"] == web["startupProbe"]["httpGet"]["path"] == "/healthz/live"
    assert web["readinessProbe"]["httpGet"]["path"] == "/healthz/ready"


def test_the_web_command_is_that_of_the_image(objects: list[Object]) -> None:
    [line] = re.findall(r"^CMD (\[.*?\])$", (ROOT / "Dockerfile").read_text().replace("\\\n", ""), re.MULTILINE)
    image = [re.sub(r"^\d+$", "N", word) for word in json.loads(line)]
    [web] = named(objects, "Deployment", "candor-web")["spec"]["template"]["spec"]["containers"]
    ours = [re.sub(r"^\d+$", "N", part) for word in web["command"] for part in word.split("=", 1)]
    assert sorted(ours) == sorted(image)


def test_no_part_stops_for_an_upgrade_or_a_node(objects: list[Object]) -> None:
    deployments = [one for one in objects if one["kind"] == "Deployment"]
    for one in deployments:
        assert one["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}, one["metadata"]["name"]
    budgets = {one["metadata"]["name"] for one in objects if one["kind"] == "PodDisruptionBudget"}
    assert budgets == {one["metadata"]["name"] for one in deployments} - {"candor-beat"}
    for one in deployments:
        labels = one["spec"]["template"]["metadata"]["labels"]
        assert one["spec"]["selector"]["matchLabels"].items() <= labels.items()


def test_a_number_of_pods_is_said_in_one_place() -> None:
    """A deployment with a number of its own would undo what the autoscaler did, at each upgrade."""
    for values in (LEAST, MOST):
        objects = rendered(values)
        scaled = {one["spec"]["scaleTargetRef"]["name"] for one in objects if one["kind"] in ("HorizontalPodAutoscaler", "ScaledObject")}
        fixed = {one["metadata"]["name"] for one in objects if one["kind"] == "Deployment" and "replicas" in one["spec"]}
        assert not scaled & fixed
        assert scaled | fixed == {one["metadata"]["name"] for one in objects if one["kind"] == "Deployment"}


def test_workers_grow_with_their_queues() -> None:
    objects = rendered(MOST)
    for name in ("bootstrap", "files"):
        [trigger] = named(objects, "ScaledObject", f"candor-worker-{name}")["spec"]["triggers"]
        assert f'candor_jobs_waiting{{queue=~"{name}"}}' in trigger["metadata"]["query"]
    taken = [one["value"] for _name, container in containers(objects) for one in container.get("env", []) if one["name"] == "CANDOR_QUEUES"]
    assert sorted(taken) == ["bootstrap", "files", "first", "mail"]


def allowed(objects: list[Object], part: str, direction: str, **labels: str) -> list[Object]:
    """The rules of all policies that hold for the pods of one part."""
    own = {"app.kubernetes.io/name": "candor", "app.kubernetes.io/instance": "candor", "app.kubernetes.io/component": part, **labels}
    rules: list[Object] = []
    for one in objects:
        if one["kind"] == "NetworkPolicy" and direction.capitalize() in one["spec"]["policyTypes"]:
            selector = one["spec"]["podSelector"]
            excluded = any(own[each["key"]] in each["values"] for each in selector.get("matchExpressions", []))
            if selector["matchLabels"].items() <= own.items() and not excluded:
                rules += one["spec"].get(direction) or []
    return rules


def test_web_has_no_way_to_the_internet(objects: list[Object]) -> None:
    """Only these workers have one that send letters, and none of it leads into a private network."""
    for part in ("web", "worker-first", "beat", "migrate", "roles"):
        for rule in allowed(objects, part, "egress"):
            assert rule["to"], f"{part}: to everybody"
            for peer in rule["to"]:
                assert peer.get("ipBlock", {}).get("cidr") in (None, "192.0.2.7/32"), f"{part}: {peer}"
    outside = [
        peer["ipBlock"]
        for rule in allowed(objects, "worker-mail", "egress", **{"candor/reaches-outside": "true"})
        for peer in rule["to"]
        if peer.get("ipBlock", {}).get("cidr") == "0.0.0.0/0"
    ]
    [everywhere] = outside
    assert {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"} <= set(everywhere["except"])
    for one in objects:
        if one["kind"] == "Deployment" and "worker" in one["metadata"]["name"]:
            reaches = one["spec"]["template"]["metadata"]["labels"]["candor/reaches-outside"]
            assert (reaches == "true") == (one["metadata"]["name"] == "candor-worker-mail")


def test_nobody_reaches_web_but_nginx_and_the_monitoring_program(objects: list[Object]) -> None:
    rules = allowed(objects, "web", "ingress")
    assert all(rule["from"] for rule in rules)
    peers = [peer for rule in rules for peer in rule["from"]]
    assert peers[0]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "edge"
    assert [peer["namespaceSelector"]["matchLabels"] for peer in peers[1:]] in ([], [{"kubernetes.io/metadata.name": "monitoring"}])
    for part in ("worker-first", "beat", "migrate"):
        assert allowed(objects, part, "ingress") == []


def test_the_rules_of_nginx_are_those_of_one_machine() -> None:
    """One file for all installations: what stands in another place in the cluster is all that differs, and nothing keeps an address."""
    committed = (ROOT / "deployment" / "nginx.conf").read_text()
    plain, behind = (named(rendered(values), "ConfigMap", "candor-edge")["data"]["nginx.conf"] for values in (LEAST, MOST))
    expected = committed.replace("access_log /var/log/candor/access.log without_persons;", "access_log off;").replace(
        "push:8001", "candor-push:8001"
    )
    assert expected != committed
    assert plain == expected
    assert behind == expected.replace("$binary_remote_addr", "$http_x_forwarded_for")
    assert expected.count("$binary_remote_addr") == 3
    assert 'X-Forwarded-For ""' in behind, "the application is not told"


def variables(objects: list[Object]) -> dict[str, dict[str, Any]]:
    """The environment of each container that runs Candor's code: values, or the secret and the key."""
    return {
        name: {one["name"]: one.get("value") or one.get("valueFrom", {}).get("secretKeyRef") for one in container["env"]}
        for name, container in containers(objects)
        if any(one["name"] == "SECRET_KEY" for one in container.get("env", []))
    }


def test_everything_pushes_and_listens_unless_told_not_to() -> None:
    """`push` is part of the chart, so that web and workers must know of it."""
    for values, pushes in ((LEAST, "1"), ({"settings": {"ALLOWED_HOSTS": "a", "PUSH": 0}}, "0")):
        found = variables(rendered(values))
        assert {"candor-web: web", "candor-push: push", "candor-worker-first: worker"} <= set(found)
        assert {one["PUSH"] for one in found.values()} == {pushes}


def test_the_certificate_of_redis_is_where_its_readers_look() -> None:
    for values, path in ((LEAST, None), (MOST, "/etc/redis/ca.crt")):
        objects = rendered(values)
        assert {one.get("REDIS_CA_FILE") for one in variables(objects).values()} == {path}
        for name, pod in pods(objects):
            runs_code = any(name == container.partition(":")[0] for container in variables(objects))
            [volume] = [one for one in pod.get("volumes", []) if one["name"] == "redis-ca"] or [None]
            assert (volume is not None) == (path is not None and runs_code), name
            if volume:
                assert volume["secret"] == {"secretName": "redis-ca", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
                [container] = pod["containers"]
                assert {"name": "redis-ca", "mountPath": "/etc/redis", "readOnly": True} in container["volumeMounts"], name


def test_pages_and_work_share_connections_by_names_of_their_own_and_migrations_do_not() -> None:
    found = variables(rendered(MOST))
    keys = {name: (one["DATABASE_URL"]["key"], one.get("DATABASE_POOLED")) for name, one in found.items()}
    assert keys.pop("candor-migrate: migrate") == ("DATABASE_URL", None), "they connect to PostgreSQL itself"
    assert {name: key for name, key in keys.items() if "worker" in name or "beat" in name} == {
        **{f"candor-worker-{name}: worker": ("WORK_DATABASE_URL", "1") for name in VALUES["workers"]},
        "candor-beat: beat": ("WORK_DATABASE_URL", "1"),
    }
    assert keys["candor-web: web"] == ("DATABASE_URL", "1")
    without = variables(rendered(LEAST))
    assert {(one["DATABASE_URL"]["key"], one.get("DATABASE_POOLED")) for one in without.values()} == {("DATABASE_URL", None)}


def test_the_rules_of_the_pool_are_those_of_several_hosts() -> None:
    """One file for all installations, in which only what is named here differs: no line for a participant, and prepared statements."""
    made = named(rendered(MOST), "ConfigMap", "candor-pgbouncer")["data"]
    rules, databases = ((ROOT / "deployment" / name).read_text() for name in ("pgbouncer.ini", "databases.ini"))
    assert made["pgbouncer.ini"] == rules.replace("default_pool_size = 20", "default_pool_size = 20\nserver_tls_sslmode = prefer")
    assert made["databases.ini"] == databases.replace("host=postgres dbname=candor", "host=db.example.org port=5432 dbname=candor")
    assert databases.count("host=postgres dbname=candor") == 2
    open_one = {**MOST, "pgbouncer": {**MOST["pgbouncer"], "certificate": ""}}
    plain = named(rendered(open_one), "ConfigMap", "candor-pgbouncer")["data"]["pgbouncer.ini"]
    assert "client_tls_sslmode = disable" in plain
    assert "/certificates" not in plain
    ingress = allowed(rendered(MOST), "pgbouncer", "ingress")
    assert [rule["ports"] for rule in ingress] == [[{"port": "postgresql", "protocol": "TCP"}]]


def test_blanks_between_hosts_are_in_no_name() -> None:
    """Django takes them off; Kubernetes refuses a host with a blank."""
    values = {"settings": {"ALLOWED_HOSTS": " a.example.org, b.example.org "}, "ingress": {"enabled": True}}
    ingress = named(rendered(values), "Ingress", "candor")
    hosts = ["a.example.org", "b.example.org"]
    assert [one["host"] for one in ingress["spec"]["rules"]] == ingress["spec"]["tls"][0]["hosts"] == hosts


def test_a_controller_in_front_logs_nobody_and_the_cluster_hides_nobody() -> None:
    ingress = named(rendered(MOST), "Ingress", "candor")
    assert ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/enable-access-log"] == "false"
    assert ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/proxy-body-size"] == "600m"
    assert ingress["spec"]["rules"][0]["host"] == "trial.example.org"
    assert named(rendered(MOST), "Service", "candor")["spec"]["type"] == "ClusterIP"
    service = named(rendered(LEAST), "Service", "candor")["spec"]
    assert (service["type"], service["externalTrafficPolicy"]) == ("LoadBalancer", "Local"), "else all visitors have one address"


def test_one_source_of_roles_alerts_and_versions() -> None:
    sources = {name: name for name in ("nginx.conf", "roles.sql", "pgbouncer.ini", "databases.ini")}
    for name, source in {**sources, "alerts.yml": "monitoring/alerts.yml"}.items():
        assert (CHART / "files" / name).resolve() == ROOT / "deployment" / source
    objects = rendered(MOST)
    assert named(objects, "ConfigMap", "candor-roles")["data"]["roles.sql"] == (ROOT / "deployment" / "roles.sql").read_text()
    alerts = yaml.safe_load((ROOT / "deployment" / "monitoring" / "alerts.yml").read_text())
    assert named(objects, "PrometheusRule", "candor")["spec"] == alerts
    chart, compose = yaml.safe_load((CHART / "Chart.yaml").read_text()), (ROOT / "docker-compose.yml").read_text()
    assert chart["appVersion"] == __version__
    for image in (VALUES["edge"]["image"], "postgres:17.6"):
        assert f"image: {image}" in compose
    assert "image: postgres:17.6" in (CHART / "templates" / "roles.yaml").read_text()
