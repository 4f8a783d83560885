"""The collection as it is installed, with ansible-core, the product and simulated hosts."""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import berth
import pytest

ROOT = Path(__file__).resolve().parents[1]
TOKEN = os.environ["BERTH_TOKEN"]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the collection, built and installed."""
    folder = tmp_path_factory.mktemp("ansible")
    run(folder, "ansible-galaxy", "collection", "build", str(ROOT), "--output-path", str(folder))
    (built,) = folder.glob("*.tar.gz")
    run(folder, "ansible-galaxy", "collection", "install", "--offline", str(built), "-p", str(folder / "collections"))
    return folder


def run(folder: Path, program: str, *arguments: str, fails: bool = False) -> str:
    settings = {
        "HOME": str(folder),
        "ANSIBLE_COLLECTIONS_PATH": str(folder / "collections"),
        "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"),
        "ANSIBLE_REMOTE_TEMP": str(folder / "tmp"),
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true",
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
    }
    command = [str(Path(sys.executable).with_name(program)), *arguments]
    ended = subprocess.run(command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True)  # noqa: S603
    assert (ended.returncode != 0) == fails, ended.stdout + ended.stderr
    assert TOKEN not in ended.stdout + ended.stderr
    return ended.stderr if fails else ended.stdout


@pytest.fixture
def client() -> Iterator[berth.Berth]:
    with berth.Berth() as opened:
        yield opened


@pytest.fixture
def given(client: berth.Berth) -> Iterator[dict[str, str]]:
    """A key, a firewall and a network, and names for them and a VM."""
    name = f"ansible-{secrets.token_hex(4)}"
    parts = (b"ssh-ed25519", secrets.token_bytes(32))
    public = base64.b64encode(b"".join(struct.pack(">I", len(part)) + part for part in parts)).decode()
    key = client.ssh_keys.create(name=name, publicKey=f"ssh-ed25519 {public}")
    firewall = client.firewalls.create(name=name)
    node = client.regions.nodes(client.regions.list()[0]["id"])[0]
    network = client.networks.create(name=name, nodeId=node["id"], cidr=f"172.29.{secrets.randbelow(256)}.0/24")
    yield {"vm": name, "key": name, "firewall": name, "network": name}
    client.networks.delete(network["id"])
    client.firewalls.delete(firewall["id"])
    client.ssh_keys.delete(key["id"])


def test_life_of_a_vm(home: Path, given: dict[str, str], client: berth.Berth) -> None:
    played = run(home, "ansible-playbook", str(ROOT / "tests/life.yml"), "--diff", "-e", json.dumps({"given": given}))
    assert '-    "plan": "small",\n+    "plan": "medium",' in played.replace("\x1b", "")
    assert client.vms.list(name=given["vm"]).all() == []


def test_inventory_by_labels(home: Path, given: dict[str, str], client: berth.Berth) -> None:
    names = {f"{given['vm']}-{env}": env for env in ("prod", "test")}
    region, template = client.regions.list()[0], client.os_templates.get("debian-12")
    made = [
        client.vms.create(
            regionId=region["id"], osTemplateId=template["id"], hostname=name, name=name, labels={"env": env, "run": given["vm"]}
        )
        for name, env in names.items()
    ]
    for each in made:
        client.wait_for_action(each, timeout=300)
    (home / "all.berth.yml").write_text(
        "plugin: berth.cloud.vms\n"
        f"label_selector: run={given['vm']}\n"
        "keyed_groups:\n  - {key: berth_vm.labels.env, prefix: env}\n  - {key: berth_vm.region.slug, prefix: region}\n"
        "groups: {small: berth_vm.vcpu <= 64}\n"
        "compose: {ansible_user: \"'root'\"}\n"
    )
    listed = inventory(home)
    variables = listed["_meta"]["hostvars"]
    assert sorted(variables) == sorted(names)
    for name, env in names.items():
        assert listed[f"env_{env}"]["hosts"] == [name]
        (vm,) = client.vms.list(name=name)
        assert (variables[name]["ansible_host"], variables[name]["ansible_user"]) == (vm["ipAddress"], "root")
        assert variables[name]["berth_vm"]["id"] == vm["id"]
    assert sorted(listed[f"region_{region['slug']}"]["hosts"]) == sorted(listed["small"]["hosts"]) == sorted(names)

    client.wait_for_action(client.vms.stop(made[0]["vmId"]), timeout=300)
    assert list(inventory(home)["_meta"]["hostvars"]) == [list(names)[1]]
    for each in made:
        client.wait_for_action(client.vms.delete(each["vmId"]), timeout=300)


def inventory(home: Path) -> dict[str, Any]:
    def plain(fields: dict[str, Any]) -> Any:
        return fields.get("__ansible_unsafe", fields)  # so it shows texts that are not to be templates

    listed: dict[str, Any] = json.loads(run(home, "ansible-inventory", "-i", "all.berth.yml", "--list"), object_hook=plain)
    return listed


def test_inventory_says_why_it_fails(home: Path) -> None:
    (home / "bad.berth.yml").write_text("plugin: berth.cloud.vms\nlabel_selector: a=b=c\n")
    failed = run(home, "ansible-inventory", "-i", "bad.berth.yml", "--list", fails=True)
    assert "The VMs of Berth could not be listed: Validation failed: labelSelector" in " ".join(failed.split())


PAGES = [ROOT / "README.md", ROOT.parents[1] / "docs/guide/ansible.md"]
EXAMPLES = [text for page in PAGES for text in re.findall(r"^```yaml\n(.*?)^```$", page.read_text(), re.M | re.S)]


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_of_the_documentation(home: Path, text: str) -> None:
    if text.startswith("plugin:"):
        (home / "example.berth.yml").write_text(text)
        run(home, "ansible-inventory", "-i", "example.berth.yml", "--list")
    else:
        (home / "example.yml").write_text(text)
        run(home, "ansible-playbook", "example.yml", "--syntax-check")


@pytest.mark.parametrize(("kind", "name"), [("module", "berth.cloud.vm"), ("inventory", "berth.cloud.vms")])
def test_documentation(home: Path, kind: str, name: str) -> None:
    shown = json.loads(run(home, "ansible-doc", "--json", "-t", kind, name))[name]
    assert shown["doc"]["options"]["token"]["required"] is True
    assert shown["examples"]
