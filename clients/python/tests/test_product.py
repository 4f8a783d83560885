"""The clients with the product and simulated hosts: what BERTH_URL and BERTH_TOKEN name."""

from __future__ import annotations

import asyncio
import secrets
from itertools import chain

import pytest

import berth
from berth.types import Event

from .product import public_key


def test_everything_of_a_vm() -> None:
    name = f"py-{secrets.token_hex(4)}"
    labels = {"client": name}
    with berth.Berth() as client:
        cursor = last_cursor(list(client.events.list()))
        region = client.regions.list()[0]
        template = client.os_templates.get("debian-12")
        key = client.ssh_keys.create(name=name, publicKey=public_key(), labels=labels)
        network = client.networks.create(
            name=name, nodeId=client.regions.nodes(region["id"])[0]["id"], cidr=f"172.30.{secrets.randbelow(256)}.0/24", labels=labels
        )
        firewall = client.firewalls.create(name=name, labels=labels)
        client.firewalls.replace_rules(
            firewall["id"], rules=[{"direction": "IN", "action": "ACCEPT", "protocol": "TCP", "port": "22", "sourceIps": ["0.0.0.0/0"]}]
        )
        address = client.addresses.reserve(regionId=region["id"], labels=labels)
        volume = client.volumes.create(regionId=region["id"], name=name, sizeGiB=10, labels=labels)

        wanted: berth.types.CreateVm = {
            "regionId": region["id"],
            "osTemplateId": template["id"],
            "hostname": name,
            "labels": labels,
            "sshKeyIds": [key["id"]],
            "firewallIds": [firewall["id"]],
            "privateNetworkIds": [network["id"]],
        }
        quote = client.vms.quote_create(**wanted)
        created = client.vms.create(**wanted, idempotency_key=name)
        assert client.vms.create(**wanted, idempotency_key=name) == created
        progress: list[int] = []
        action = client.wait_for_action(created, timeout=300, on_progress=lambda seen: progress.append(seen["progress"]))
        assert (action["status"], progress[-1]) == ("COMPLETED", 100)
        vm = client.vms.get(created["vmId"])
        assert (vm["status"], vm["billing"]["priceMonthly"]) == ("RUNNING", quote["monthly"])

        client.wait_for_action(client.volumes.attach(volume["id"], vmId=vm["id"]), timeout=300)
        client.wait_for_action(client.addresses.assign(address["id"], vmId=vm["id"]), timeout=300)

        assert listed(client, f"client={name}") == [each["id"] for each in (vm, network, firewall, volume, address, key)]

        with pytest.raises(berth.InUseError) as refused:
            client.networks.delete(network["id"])
        assert (refused.value.status, refused.value.code) == (409, "in_use")

        client.wait_for_action(client.volumes.detach(volume["id"]), timeout=300)
        client.wait_for_action(client.addresses.unassign(address["id"]), timeout=300)
        client.wait_for_action(client.vms.delete(vm["id"]), timeout=300)
        client.volumes.delete(volume["id"])
        client.addresses.release(address["id"])
        client.firewalls.delete(firewall["id"])
        client.networks.delete(network["id"])
        client.ssh_keys.delete(key["id"])
        assert listed(client, f"client={name}") == []

        types = [event["type"] for event in client.events.list(after=cursor)]
        for expected in ("vm.created", "vm.started", "volume.attached", "address.assigned", "vm.terminated", "volume.deleted"):
            assert expected in types


def listed(client: berth.Berth, selector: str) -> list[object]:
    resources = chain(
        client.vms.list(labelSelector=selector),
        client.networks.list(labelSelector=selector),
        client.firewalls.list(labelSelector=selector),
        client.volumes.list(labelSelector=selector),
        client.addresses.list(labelSelector=selector),
        client.ssh_keys.list(labelSelector=selector),
    )
    return [each["id"] for each in resources]


def test_stream_and_many_calls_at_once() -> None:
    async def follow() -> None:
        opened = asyncio.Event()
        async with berth.AsyncBerth() as client:
            stream = client.events.stream(on_open=opened.set)
            first = asyncio.ensure_future(anext(stream))
            await opened.wait()
            name = f"py-{secrets.token_hex(4)}"
            firewalls = await asyncio.gather(*(client.firewalls.create(name=f"{name}-{index}") for index in range(5)))
            await client.firewalls.replace_rules(firewalls[0]["id"], rules=[])
            await client.firewalls.add_rule(firewalls[0]["id"], direction="IN", action="ACCEPT", protocol="ICMP")
            event = await asyncio.wait_for(first, 30)
            await stream.aclose()
            assert event["type"] == "firewall.rules_changed"
            assert event["data"]["firewall"]["id"] == firewalls[0]["id"]
            found = [each["id"] async for each in client.firewalls.list(limit=2) if each["name"].startswith(name)]
            assert sorted(found) == sorted(each["id"] for each in firewalls)
            await asyncio.gather(*(client.firewalls.delete(each) for each in found))

    asyncio.run(follow())


def last_cursor(events: list[Event]) -> str:
    return events[-1]["cursor"] if events else "0"
