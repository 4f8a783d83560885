#!/usr/bin/python

from __future__ import annotations

DOCUMENTATION = """
module: vm
short_description: Creates, changes and deletes a VM
description:
  - Makes the VM with this name be as it is described. What is not given stays as it is.
  - In check mode the server validates and prices what would be done, and nothing changes.
options:
  name:
    description: Name of the VM. It must be that of one VM at most.
    type: str
    required: true
  state:
    description:
      - C(present) creates it where there is none.
      - C(started) and C(stopped) also start and stop it.
      - C(absent) deletes it with its data.
    type: str
    choices: [present, started, stopped, absent]
    default: present
  region:
    description: Slug of the region. Needed to create it where there are several.
    type: str
  os_template:
    description: Slug of the OS template. Needed to create it.
    type: str
  hostname:
    description: Host name in the guest when it is created. By default its name.
    type: str
  plan:
    description: Slug of the plan. Another one resizes the VM, which may restart it.
    type: str
  ssh_keys:
    description: Names or ids of SSH keys that may log in, when it is created.
    type: list
    elements: str
  user_data:
    description: cloud-init user data, when it is created.
    type: str
  labels:
    description: All of its labels.
    type: dict
  protected:
    description: Whether it is protected from deletion and rebuilds.
    type: bool
  daily_backups:
    description: Whether it is backed up every day.
    type: bool
  firewalls:
    description: Names or ids of all firewalls that are bound to it.
    type: list
    elements: str
  networks:
    description: Names or ids of all private networks that it is attached to.
    type: list
    elements: str
  timeout:
    description: Seconds to wait for each action, such as starting it.
    type: int
    default: 900
extends_documentation_fragment: berth.cloud.server
attributes:
  check_mode:
    support: full
    description: Nothing is changed, and C(quote) has the price.
  diff_mode:
    support: full
    description: Shows the fields that change.
author: The maintainers of Berth
"""

EXAMPLES = """
- name: A web server
  berth.cloud.vm:
    name: web-1
    os_template: debian-12
    plan: small
    ssh_keys: [laptop]
    firewalls: [web]
    labels: {env: prod, role: web}
    state: started
  register: web

- name: It can be reached
  ansible.builtin.debug:
    msg: "ssh root@{{ web.vm.ipAddress }}"

- name: It is deleted with its data
  berth.cloud.vm:
    name: web-1
    state: absent
"""

RETURN = """
vm:
  description: The VM, with the fields that it has in the API. None where there is none.
  returned: always
  type: dict
quote:
  description: What creating, resizing or deleting it would cost.
  returned: in check mode, where it is created, resized or deleted
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.server import SERVER_ARGUMENTS, run

ARGUMENTS = {
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "started", "stopped", "absent"], "default": "present"},
    "region": {"type": "str"},
    "os_template": {"type": "str"},
    "hostname": {"type": "str"},
    "plan": {"type": "str"},
    "ssh_keys": {"type": "list", "elements": "str", "no_log": False},
    "user_data": {"type": "str", "no_log": True},
    "labels": {"type": "dict"},
    "protected": {"type": "bool"},
    "daily_backups": {"type": "bool"},
    "firewalls": {"type": "list", "elements": "str"},
    "networks": {"type": "list", "elements": "str"},
    "timeout": {"type": "int", "default": 900},
}
STATES = {"RUNNING": "started", "STOPPED": "stopped"}
ABSENT = {"state": "absent"}


def main():
    run(AnsibleModule({**SERVER_ARGUMENTS, **ARGUMENTS}, supports_check_mode=True), lambda module, client: Task(module, client).run())


class Task:
    def __init__(self, module, client):
        self.params = module.params
        self.check = module.check_mode
        self.client = client

    def run(self):
        vm = self.find()
        before = describe(vm)
        after = self.wanted(before)
        result = {"changed": before != after, "diff": {"before": before, "after": after}, "vm": vm}
        if before == after:
            return result
        if self.check:
            return {**result, **self.quote(vm, before, after)}
        if after == ABSENT:
            self.wait(self.client.vms.delete(vm["id"]))
        elif vm is None:
            self.create(after)
        else:
            self.change(vm, before, after)
        return {**result, "vm": self.find()}

    def find(self):
        found = [each for each in self.client.vms.list(name=self.params["name"]) if each["name"] == self.params["name"]]
        if len(found) > 1:
            raise ValueError(
                f"{len(found)} VMs are called {self.params['name']}: {', '.join(each['id'] for each in found)}. Rename all but one"
            )
        return self.client.vms.get(found[0]["id"]) if found else None

    def wanted(self, before):
        if self.params["state"] == "absent":
            return ABSENT
        given = {
            "plan": self.params["plan"],
            "labels": self.params["labels"] and {key: str(value) for key, value in self.params["labels"].items()},
            "protected": self.params["protected"],
            "daily_backups": self.params["daily_backups"],
            "firewalls": self.names(self.client.firewalls, self.params["firewalls"]),
            "networks": self.names(self.client.networks, self.params["networks"]),
            "state": None if self.params["state"] == "present" else self.params["state"],
        }
        # A new VM is started.
        base = {"state": "started"} if before == ABSENT else before
        return {**base, **{name: value for name, value in given.items() if value is not None}}

    def quote(self, vm, before, after):
        if after == ABSENT:
            return {"quote": self.client.vms.quote_delete(vm["id"])}
        if vm is None:
            return {"quote": self.client.vms.quote_create(**self.order())}
        if after["plan"] != before["plan"]:
            return {"quote": self.client.vms.quote_resize(vm["id"], planId=self.plan_id(after["plan"]))}
        return {}

    def create(self, after):
        created = self.client.vms.create(**self.order())
        self.wait(created)
        if after["state"] == "stopped":
            self.wait(self.client.vms.stop(created["vmId"]))

    def order(self):
        if not self.params["os_template"]:
            raise ValueError(f"os_template is needed to create {self.params['name']}")
        fields = {
            "regionId": self.region_id(),
            "osTemplateId": self.client.os_templates.get(self.params["os_template"])["id"],
            "name": self.params["name"],
            "hostname": self.params["hostname"] or self.params["name"],
            "planId": self.params["plan"] and self.plan_id(self.params["plan"]),
            "sshKeyIds": self.ids(self.client.ssh_keys, self.params["ssh_keys"]),
            "firewallIds": self.ids(self.client.firewalls, self.params["firewalls"]),
            "privateNetworkIds": self.ids(self.client.networks, self.params["networks"]),
            "userData": self.params["user_data"],
            "labels": self.wanted(ABSENT).get("labels"),
            "isProtected": self.params["protected"],
            "dailyBackupEnabled": self.params["daily_backups"],
        }
        return {name: value for name, value in fields.items() if value is not None}

    def change(self, vm, before, after):
        id = vm["id"]
        fields = {"labels": "labels", "protected": "isProtected", "daily_backups": "dailyBackupEnabled"}
        changes = {field: after[name] for name, field in fields.items() if after[name] != before[name]}
        if changes:
            self.client.vms.update(id, **changes)
        self.follow(self.client.firewalls, before["firewalls"], after["firewalls"], self.bind(id), self.unbind(id))
        self.follow(self.client.networks, before["networks"], after["networks"], self.attach(id), self.detach(id))
        if after["plan"] != before["plan"]:
            self.wait(self.client.vms.resize(id, planId=self.plan_id(after["plan"])))
        if after["state"] != before["state"]:
            self.wait(self.client.vms.start(id) if after["state"] == "started" else self.client.vms.stop(id))

    def follow(self, resource, before, after, add, remove):
        for id in self.ids(resource, sorted(set(before) - set(after))):
            remove(id)
        for id in self.ids(resource, sorted(set(after) - set(before))):
            add(id)

    def bind(self, vm_id):
        return lambda id: self.client.firewalls.bind(id, vmId=vm_id)

    def unbind(self, vm_id):
        return lambda id: self.client.firewalls.unbind(id, vm_id)

    def attach(self, vm_id):
        return lambda id: self.wait(self.client.vms.attach_network(vm_id, networkId=id))

    def detach(self, vm_id):
        return lambda id: self.wait(self.client.vms.detach_network(vm_id, id))

    def wait(self, started):
        self.client.wait_for_action(started, timeout=self.params["timeout"])

    def region_id(self):
        regions = self.client.regions.list()
        if self.params["region"] is None and len(regions) == 1:
            return regions[0]["id"]
        return only(regions, "slug", self.params["region"], "region")["id"]

    def plan_id(self, slug):
        return only(self.client.plans.list(), "slug", slug, "plan")["id"]

    def ids(self, resource, given):
        return None if given is None else [each["id"] for each in self.named(resource, given)]

    def names(self, resource, given):
        return None if given is None else sorted(each["name"] for each in self.named(resource, given))

    def named(self, resource, given):
        every = resource.list().all()
        return [next((each for each in every if each["id"] == name), None) or only(every, "name", name, "name") for name in given]


def describe(vm):
    """What can be changed of it, as in the options."""
    if vm is None:
        return ABSENT
    return {
        "state": STATES.get(vm["status"], vm["status"].lower()),
        "plan": vm["plan"]["slug"],
        "labels": vm["labels"],
        "protected": vm["isProtected"],
        "daily_backups": vm["dailyBackupEnabled"],
        "firewalls": sorted(each["name"] for each in vm["firewalls"]),
        "networks": sorted(each["name"] for each in vm["privateNetworks"]),
    }


def only(every, field, value, what):
    found = [each for each in every if each[field] == value]
    if len(found) == 1:
        return found[0]
    known = ", ".join(sorted({each[field] for each in every})) or "none"
    raise ValueError(f"{what} {value} is that of {len(found)}, and must be one of: {known}")


if __name__ == "__main__":
    main()
