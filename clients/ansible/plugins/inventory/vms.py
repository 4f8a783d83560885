from __future__ import annotations

DOCUMENTATION = """
name: vms
short_description: VMs of Berth as an inventory
description:
  - Each VM is a host with its name, its public address as C(ansible_host), and the VM as it is in the API as C(berth_vm).
  - The file must end in C(berth.yml) or C(berth.yaml).
options:
  plugin:
    description: The name of this plugin.
    required: true
    choices: [berth.cloud.vms]
  url:
    description: URL of the server.
    type: str
    default: http://127.0.0.1:8080
    env:
      - name: BERTH_URL
  token:
    description: An API token with the scope C(vms:read).
    type: str
    required: true
    env:
      - name: BERTH_TOKEN
  label_selector:
    description: Only VMs with such labels, such as C(env=prod,!old).
    type: str
  statuses:
    description: Only VMs with one of these statuses.
    type: list
    elements: str
    default: [RUNNING]
requirements:
  - berth (Python package)
extends_documentation_fragment:
  - constructed
  - inventory_cache
"""

EXAMPLES = """
# prod.berth.yml: groups such as env_prod and region_fra1
plugin: berth.cloud.vms
label_selector: env=prod
keyed_groups:
  - key: berth_vm.labels
  - key: berth_vm.region.slug
    prefix: region
groups:
  large: berth_vm.ram >= 8192
compose:
  ansible_user: "'root'"
"""

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable

try:
    import berth
except ImportError:
    berth = None


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    NAME = "berth.cloud.vms"

    def verify_file(self, path):
        return super().verify_file(path) and path.endswith(("berth.yml", "berth.yaml"))

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        for vm in self._cached(path, cache):
            self._add(vm)

    def _cached(self, path, cache):
        key = self.get_cache_key(path)
        enabled = self.get_option("cache")
        if enabled and cache and key in self._cache:
            return self._cache[key]
        vms = self._fetch()
        if enabled:
            self._cache[key] = vms
        return vms

    def _fetch(self):
        if berth is None:
            raise AnsibleParserError("The inventory needs the Python package berth: pip install berth")
        selector = self.get_option("label_selector")
        query = {"labelSelector": selector} if selector else {}
        try:
            with berth.Berth(base_url=self.get_option("url"), token=self.get_option("token")) as client:
                return [vm for vm in client.vms.list(sort="name", **query) if vm["status"] in self.get_option("statuses")]
        except (berth.BerthError, ValueError) as error:
            raise AnsibleParserError(f"The VMs of Berth could not be listed: {error}") from error

    def _add(self, vm):
        name = vm["name"]
        if name in self.inventory.hosts:
            name = f"{name}-{vm['id']}"  # names of VMs are not unique
        self.inventory.add_host(name)
        self.inventory.set_variable(name, "ansible_host", vm["ipAddress"] or vm["ipv6Address"])
        self.inventory.set_variable(name, "berth_vm", vm)
        variables = self.inventory.get_host(name).get_vars()
        strict = self.get_option("strict")
        self._set_composite_vars(self.get_option("compose"), variables, name, strict)
        self._add_host_to_composed_groups(self.get_option("groups"), variables, name, strict)
        self._add_host_to_keyed_groups(self.get_option("keyed_groups"), variables, name, strict)
