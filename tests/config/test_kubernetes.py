"""The manifests fit the service: what they name exists here and in each other."""

import copy
import json
import secrets
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands
from django.urls import resolve

from tests.config.test_deployment_checks import check
from tests.node import installed, needs_npm

pytestmark = pytest.mark.once
FOLDER = Path(settings.BASE_DIR) / "deploy/kubernetes"
SCHEMAS = Path(__file__).with_name("kubernetes")


def documents():
    return [
        document
        for path in sorted(FOLDER.glob("*.yaml"))
        if path.name != "kustomization.yaml"
        for document in yaml.safe_load_all(path.read_text())
    ]


def of_kind(*kinds):
    return [document for document in documents() if document["kind"] in kinds]


def pods():
    for document in of_kind("Deployment", "Job"):
        yield document["metadata"]["name"], document["spec"]["template"]["spec"]
    for document in of_kind("CronJob"):
        yield document["metadata"]["name"], document["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def test_the_list_of_files_is_complete():
    listed = set(yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"])
    there = {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml", "secret.example.yaml"}
    assert listed == there


def test_every_variable_is_documented():
    documented = (Path(settings.BASE_DIR) / "docs/deployment.md").read_text()
    variables = [*of_kind("ConfigMap")[0]["data"], *of_kind("Secret")[0]["stringData"]]
    assert [name for name in variables if name not in documented] == []


@pytest.mark.slow
def test_the_environment_of_the_pods_is_one_of_a_deployment(tmp_path):
    environment = of_kind("ConfigMap")[0]["data"] | of_kind("Secret")[0]["stringData"]
    filled_in = {
        name: value.replace("REPLACE-ME", secrets.token_urlsafe(48))
        for name, value in of_kind("Secret")[0]["stringData"].items()
    }
    result = check(tmp_path, **{**environment, **filled_in, "VAR_DIR": str(tmp_path)})
    assert result.returncode == 0, result.stderr


def test_pods_run_commands_and_probes_that_exist():
    names = [name for name, _ in pods()]
    assert sorted(names) == [f"parley-{part}" for part in ("backup", "deliver", "http", "migrate", "purge", "sockets")]
    for _, pod in pods():
        (container,) = pod["containers"]
        words = " ".join(container["command"]).replace("python manage.py ", "manage.py:").split()
        commands = {word.removeprefix("manage.py:") for word in words if word.startswith("manage.py:")}
        assert commands <= set(get_commands())
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if probe in container:
                resolve(container[probe]["httpGet"]["path"])
        volumes = {volume["name"] for volume in pod["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes
        assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_what_refers_to_another_document_finds_it():
    services = {document["metadata"]["name"] for document in of_kind("Service")}
    deployments = {document["metadata"]["name"] for document in of_kind("Deployment")}
    for ingress in of_kind("Ingress"):
        for rule in ingress["spec"]["rules"]:
            assert {path["backend"]["service"]["name"] for path in rule["http"]["paths"]} <= services
    scaled = {document["spec"]["scaleTargetRef"]["name"] for document in of_kind("HorizontalPodAutoscaler")}
    assert scaled <= deployments
    labels = [document["spec"]["template"]["metadata"]["labels"] for document in of_kind("Deployment")]
    for document in of_kind("Service"):
        assert document["spec"]["selector"] in labels


def invalid(documents, folder):
    """What the schemas of Kubernetes find wrong, a line for each document."""
    packages = installed(SCHEMAS, Path(settings.BASE_DIR) / "var/kubernetes-schemas")
    (folder / "documents.json").write_text(json.dumps(documents))
    # Beside the packages: that is where Node looks for them.
    program = shutil.copy(SCHEMAS / "validate.mjs", packages / "validate.mjs")
    done = subprocess.run(["node", program, folder / "documents.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
@needs_npm
@pytest.mark.timeout(300)
def test_the_manifests_are_valid_by_the_schemas_of_kubernetes(tmp_path):
    assert invalid(documents(), tmp_path) == []
    wrong = copy.deepcopy(of_kind("Deployment"))
    wrong[0]["spec"]["replicas"] = "two"
    assert invalid(wrong, tmp_path) == [
        f"Deployment {wrong[0]['metadata']['name']}: data/spec/replicas must be integer"
    ]
