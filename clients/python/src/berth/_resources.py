"""Generated from _async_resources.py by `python3 -m generate`. Do not edit."""

from __future__ import annotations

import builtins
import sys

from . import _operations as operations
from . import types
from ._sync import Connection, EventResource, Pages, Resource
from ._operation import IdempotencyKey

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack


class Account(Resource):
    def get(self, *, timeout: float | None = None, max_retries: int | None = None) -> types.Account:
        """Get the account the token belongs to."""
        return self._call(operations.get_account, (), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateAccountBody],
    ) -> types.Account:
        """Rename the account, or require two-factor authentication of its members."""
        return self._call(
            operations.update_account,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def limits(self, *, timeout: float | None = None, max_retries: int | None = None) -> builtins.list[types.AccountLimit]:
        """List the account's limits and how much of each is in use."""
        return self._call(operations.list_account_limits, (), timeout=timeout, max_retries=max_retries)

    def audit_log(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListAuditLogQuery],
    ) -> Pages[types.AuditEntry]:
        """List who changed what and what was refused, newest first; pages reach back 10,000 entries, dates all of 365 days."""
        return self._pages(operations.list_audit_log, (), timeout=timeout, max_retries=max_retries, query=query)


class Actions(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListActionsQuery],
    ) -> Pages[types.Action]:
        """List the actions of all VMs, newest first."""
        return self._pages(operations.list_actions, (), timeout=timeout, max_retries=max_retries, query=query)

    def of_vm(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListVmActionsQuery],
    ) -> Pages[types.Action]:
        """List the actions of a VM, newest first."""
        return self._pages(operations.list_vm_actions, (vm_id,), timeout=timeout, max_retries=max_retries, query=query)

    def get(
        self,
        vm_id: str,
        action_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.GetActionQuery],
    ) -> types.Action:
        """Get an action of a VM."""
        return self._call(operations.get_action, (vm_id, action_id), timeout=timeout, max_retries=max_retries, query=query)


class Addresses(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListAddressesQuery],
    ) -> Pages[types.Address]:
        """List floating addresses, newest first."""
        return self._pages(operations.list_addresses, (), timeout=timeout, max_retries=max_retries, query=query)

    def reserve(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.ReserveAddress],
    ) -> types.Address:
        """Reserve a public address that can move between VMs of a region. It is charged monthly, assigned or not."""
        return self._call(
            operations.reserve_address,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_reserve(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.ReserveAddress],
    ) -> types.Quote:
        """What it would cost. Reserve a public address that can move between VMs of a region. It is charged monthly, assigned or not."""
        return self._call(
            operations.quote_reserve_address,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, address_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Address:
        """Get a floating address."""
        return self._call(operations.get_address, (address_id,), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        address_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateAddress],
    ) -> types.Address:
        """Rename a floating address, or set its name in reverse DNS."""
        return self._call(
            operations.update_address,
            (address_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def release(
        self,
        address_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.ReleasedAddress:
        """Release a floating address that is not assigned. Unused whole days are refunded."""
        return self._call(
            operations.release_address,
            (address_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def quote_release(
        self,
        address_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.Quote:
        """What it would cost. Release a floating address that is not assigned. Unused whole days are refunded."""
        return self._call(
            operations.quote_release_address,
            (address_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def assign(
        self,
        address_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.AssignAddress],
    ) -> types.AddressMoving:
        """Assign a floating address to a VM, taking it from the VM that has it."""
        return self._call(
            operations.assign_address,
            (address_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def unassign(
        self,
        address_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **query: Unpack[types.UnassignAddressQuery],
    ) -> types.AddressMoving:
        """Take a floating address from its VM."""
        return self._call(
            operations.unassign_address,
            (address_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            query=query,
        )


class Alerts(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListAlertsQuery],
    ) -> Pages[types.Alert]:
        """List alerts, newest first."""
        return self._pages(operations.list_alerts, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateAlert],
    ) -> types.Alert:
        """Be told when VMs, or the balance, pass a threshold."""
        return self._call(
            operations.create_alert,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, alert_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Alert:
        """Get an alert, and where it fires."""
        return self._call(operations.get_alert, (alert_id,), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        alert_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateAlertBody],
    ) -> types.Alert:
        """Change an alert. What it measures stays as it was created."""
        return self._call(
            operations.update_alert,
            (alert_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def delete(
        self,
        alert_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.DeleteAlertData:
        """Delete an alert. What it fires for is told as ended."""
        return self._call(
            operations.delete_alert,
            (alert_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class Announcements(Resource):
    def list(self, *, timeout: float | None = None, max_retries: int | None = None) -> builtins.list[types.Announcement]:
        """List what the operator announces to you now, newest first."""
        return self._call(operations.list_announcements, (), timeout=timeout, max_retries=max_retries)


class Backups(Resource):
    def list(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListBackupsQuery],
    ) -> Pages[types.Backup]:
        """List the backups of a VM, newest first."""
        return self._pages(operations.list_backups, (vm_id,), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateBackup],
    ) -> types.BackupCreatedWithVmId:
        """Make a backup of a VM."""
        return self._call(
            operations.create_backup,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_create(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateBackup],
    ) -> types.Quote:
        """What it would cost. Make a backup of a VM."""
        return self._call(
            operations.quote_create_backup,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, vm_id: str, backup_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Backup:
        """Get a backup."""
        return self._call(operations.get_backup, (vm_id, backup_id), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        vm_id: str,
        backup_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateBackup],
    ) -> types.Backup:
        """Rename or label a backup."""
        return self._call(
            operations.update_backup,
            (vm_id, backup_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def screenshot(
        self,
        vm_id: str,
        backup_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> types.BackupScreenshot:
        """Get a picture of the screen of the guest that a backup was restored into on trial."""
        return self._call(operations.get_backup_screenshot, (vm_id, backup_id), timeout=timeout, max_retries=max_retries)

    def restore(
        self,
        vm_id: str,
        backup_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.RestoreBackup],
    ) -> types.ActionStartedWithVmId:
        """Put a VM back to the moment of a backup; what was written since is lost."""
        return self._call(
            operations.restore_backup,
            (vm_id, backup_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body or None,
        )

    def delete(
        self,
        vm_id: str,
        backup_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.BackupDeleted:
        """Delete a backup. It reads DELETING until its data is gone; one that is being made is stopped."""
        return self._call(
            operations.delete_backup,
            (vm_id, backup_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class Bandwidth(Resource):
    def list(self, *, timeout: float | None = None, max_retries: int | None = None) -> builtins.list[types.BandwidthUsage]:
        """Get the traffic of all VMs in their billing month."""
        return self._call(operations.list_bandwidth, (), timeout=timeout, max_retries=max_retries)

    def packs(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListBandwidthPacksQuery],
    ) -> Pages[types.Transaction]:
        """List the bandwidth packs bought for a VM, newest first."""
        return self._pages(operations.list_bandwidth_packs, (vm_id,), timeout=timeout, max_retries=max_retries, query=query)

    def buy_pack(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.BuyBandwidthPack],
    ) -> types.Transaction:
        """Buy traffic for the rest of the billing month."""
        return self._call(
            operations.buy_bandwidth_pack,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_buy_pack(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.BuyBandwidthPack],
    ) -> types.Quote:
        """What it would cost. Buy traffic for the rest of the billing month."""
        return self._call(
            operations.quote_buy_bandwidth_pack,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )


class Deposits(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListDepositsQuery],
    ) -> Pages[types.Deposit]:
        """List deposits, newest first."""
        return self._pages(operations.list_deposits, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateDeposit],
    ) -> types.Deposit:
        """Begin a deposit: the answer says where to pay. At most 10 are open at a time."""
        return self._call(
            operations.create_deposit,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, deposit_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Deposit:
        """Get a deposit."""
        return self._call(operations.get_deposit, (deposit_id,), timeout=timeout, max_retries=max_retries)


class Events(EventResource):
    def page(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListEventsQuery],
    ) -> builtins.list[types.Event]:
        """List events after a cursor, oldest first; with Accept: text/event-stream a live stream that resumes from Last-Event-ID."""
        return self._call(operations.list_events, (), timeout=timeout, max_retries=max_retries, query=query)


class Firewalls(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListFirewallsQuery],
    ) -> Pages[types.Firewall]:
        """List firewalls, newest first."""
        return self._pages(operations.list_firewalls, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateFirewall],
    ) -> types.Firewall:
        """Create a firewall. Bound to a VM, it drops what comes in unless a rule accepts it, and lets out everything."""
        return self._call(
            operations.create_firewall,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, firewall_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Firewall:
        """Get a firewall."""
        return self._call(operations.get_firewall, (firewall_id,), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        firewall_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.ChangeFirewall],
    ) -> types.Firewall:
        """Rename, describe or label a firewall, or change whether it covers private interfaces."""
        return self._call(
            operations.change_firewall,
            (firewall_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def delete(
        self,
        firewall_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.DeleteFirewallData:
        """Delete a firewall that is bound to no VM."""
        return self._call(
            operations.delete_firewall,
            (firewall_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def rules(
        self,
        firewall_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> builtins.list[types.FirewallRule]:
        """List a firewall's rules in their order."""
        return self._call(operations.list_firewall_rules, (firewall_id,), timeout=timeout, max_retries=max_retries)

    def rule(
        self,
        firewall_id: str,
        rule_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> types.FirewallRule:
        """Get a rule."""
        return self._call(operations.get_firewall_rule, (firewall_id, rule_id), timeout=timeout, max_retries=max_retries)

    def add_rule(
        self,
        firewall_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.AddRule],
    ) -> types.FirewallRule:
        """Add a rule at the end, or insert it at a position."""
        return self._call(
            operations.add_firewall_rule,
            (firewall_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def replace_rules(
        self,
        firewall_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.ReplaceRules],
    ) -> builtins.list[types.FirewallRule]:
        """Replace all rules at once, if they are still those that the request is based on."""
        return self._call(
            operations.replace_firewall_rules,
            (firewall_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def undo_preview(self, firewall_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.FirewallUndo:
        """Get the rules that an undo would restore."""
        return self._call(operations.get_firewall_undo, (firewall_id,), timeout=timeout, max_retries=max_retries)

    def undo(
        self,
        firewall_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UndoRules],
    ) -> builtins.list[types.FirewallRule]:
        """Restore the rules before their latest change, within ten minutes of it."""
        return self._call(
            operations.undo_firewall_rules,
            (firewall_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body or None,
        )

    def confirm(
        self,
        firewall_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.ConfirmRules],
    ) -> types.Firewall:
        """Keep rules that would be undone by themselves."""
        return self._call(
            operations.confirm_firewall_rules,
            (firewall_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body or None,
        )

    def update_rule(
        self,
        firewall_id: str,
        rule_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.ChangeRule],
    ) -> types.FirewallRule:
        """Change or move a rule."""
        return self._call(
            operations.change_firewall_rule,
            (firewall_id, rule_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def delete_rule(
        self,
        firewall_id: str,
        rule_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.DeleteFirewallRuleData:
        """Delete a rule."""
        return self._call(
            operations.delete_firewall_rule,
            (firewall_id, rule_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def bindings(
        self,
        firewall_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> builtins.list[types.FirewallBindingState]:
        """List the VMs a firewall is bound to, and whether their hosts have its latest rules."""
        return self._call(operations.list_firewall_bindings, (firewall_id,), timeout=timeout, max_retries=max_retries)

    def binding(
        self,
        firewall_id: str,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> types.FirewallBindingState:
        """Get a firewall's binding to a VM, and whether the VM's host has its latest rules."""
        return self._call(operations.get_firewall_binding, (firewall_id, vm_id), timeout=timeout, max_retries=max_retries)

    def bind(
        self,
        firewall_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.BindFirewall],
    ) -> types.FirewallBinding:
        """Bind a firewall to a VM; 200 when it was bound already."""
        return self._call(
            operations.bind_firewall,
            (firewall_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def unbind(
        self,
        firewall_id: str,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.FirewallBinding:
        """Unbind a firewall from a VM."""
        return self._call(
            operations.unbind_firewall,
            (firewall_id, vm_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def check(
        self,
        firewall_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CheckPacket],
    ) -> types.FirewallVerdict:
        """Say which rule would decide about a packet on the public interface of a VM, or on a private one."""
        return self._call(
            operations.check_packet,
            (firewall_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )


class Images(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListImagesQuery],
    ) -> Pages[types.Image]:
        """List images of the account, newest first."""
        return self._pages(operations.list_images, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateImage],
    ) -> types.ImageCreated:
        """Make an image from a VM, a snapshot or a backup, or import one from a URL. It is charged monthly by its size."""
        return self._call(
            operations.create_image,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateImage],
    ) -> types.Quote:
        """What it would cost. Make an image from a VM, a snapshot or a backup, or import one from a URL. It is charged monthly by its
        size."""
        return self._call(
            operations.quote_create_image,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, image_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Image:
        """Get an image."""
        return self._call(operations.get_image, (image_id,), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        image_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateImage],
    ) -> types.Image:
        """Rename, label or protect an image."""
        return self._call(
            operations.update_image,
            (image_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def delete(
        self,
        image_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.Image:
        """Delete an image that no VM needs; unused days are refunded. It reads DELETING until its files are gone."""
        return self._call(
            operations.delete_image,
            (image_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def quote_delete(
        self,
        image_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.Quote:
        """What it would cost. Delete an image that no VM needs; unused days are refunded. It reads DELETING until its files are gone."""
        return self._call(
            operations.quote_delete_image,
            (image_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class Invitations(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListInvitationsQuery],
    ) -> Pages[types.Invitation]:
        """List open invitations, newest first."""
        return self._pages(operations.list_invitations, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateInvitationBody],
    ) -> types.NewInvitation:
        """Invite somebody by mail, with a link that works for 7 days."""
        return self._call(
            operations.create_invitation,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def delete(
        self,
        invitation_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.DeletedInvitation:
        """Withdraw an invitation: its link stops working."""
        return self._call(
            operations.delete_invitation,
            (invitation_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class Invoices(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListInvoicesQuery],
    ) -> Pages[types.InvoiceSummary]:
        """List invoices, the newest month first."""
        return self._pages(operations.list_invoices, (), timeout=timeout, max_retries=max_retries, query=query)

    def get(self, invoice_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Invoice:
        """Get an invoice with its lines, and a link to a page to print."""
        return self._call(operations.get_invoice, (invoice_id,), timeout=timeout, max_retries=max_retries)


class Maintenances(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListMaintenancesQuery],
    ) -> Pages[types.Maintenance]:
        """List maintenances of hosts of your VMs that the operator has announced, newest first."""
        return self._pages(operations.list_maintenances, (), timeout=timeout, max_retries=max_retries, query=query)


class Members(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListMembersQuery],
    ) -> Pages[types.Member]:
        """List the people who may act in the account, and their roles."""
        return self._pages(operations.list_members, (), timeout=timeout, max_retries=max_retries, query=query)

    def update(
        self,
        member_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateMemberBody],
    ) -> types.ChangedMember:
        """Change the role or the budget of a member."""
        return self._call(
            operations.update_member,
            (member_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def delete(
        self,
        member_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.RemovedMember:
        """Remove a member, who can do nothing in the account from then on; API tokens that the member made stop working."""
        return self._call(
            operations.delete_member,
            (member_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class Networks(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListNetworksQuery],
    ) -> Pages[types.Network]:
        """List private networks, newest first."""
        return self._pages(operations.list_networks, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateNetwork],
    ) -> types.Network:
        """Create a private network."""
        return self._call(
            operations.create_network,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, network_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Network:
        """Get a private network."""
        return self._call(operations.get_network, (network_id,), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        network_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.RenameNetwork],
    ) -> types.Network:
        """Rename or label a private network. Its range, gateway, SNAT and DHCP stay as they were created."""
        return self._call(
            operations.rename_network,
            (network_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def delete(
        self,
        network_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.DeletedNetwork:
        """Delete a private network that no VM is attached to."""
        return self._call(
            operations.delete_network,
            (network_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def attachments(
        self,
        network_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> builtins.list[types.NetworkAttachment]:
        """List the VMs in a network with their addresses in it, by address."""
        return self._call(operations.list_network_attachments, (network_id,), timeout=timeout, max_retries=max_retries)

    def routes(
        self,
        network_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> builtins.list[types.NetworkRoute]:
        """List the routes of a network's gateway, by destination."""
        return self._call(operations.list_network_routes, (network_id,), timeout=timeout, max_retries=max_retries)

    def add_route(
        self,
        network_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateNetworkRoute],
    ) -> types.NetworkRoute:
        """Route a range to one of the network's VMs. The gateway forwards to it, and guests learn the route from their agents and from
        DHCP."""
        return self._call(
            operations.create_network_route,
            (network_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def route(
        self,
        network_id: str,
        route_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> types.NetworkRoute:
        """Get a route."""
        return self._call(operations.get_network_route, (network_id, route_id), timeout=timeout, max_retries=max_retries)

    def delete_route(
        self,
        network_id: str,
        route_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.DeletedNetwork:
        """Delete a route."""
        return self._call(
            operations.delete_network_route,
            (network_id, route_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def peerings(
        self,
        network_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> builtins.list[types.NetworkPeering]:
        """List the networks that a network is connected to, by range."""
        return self._call(operations.list_network_peerings, (network_id,), timeout=timeout, max_retries=max_retries)

    def add_peering(
        self,
        network_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateNetworkPeering],
    ) -> types.NetworkPeering:
        """Connect two networks of a region. Their gateways forward between them, and guests learn the routes from their agents and from
        DHCP."""
        return self._call(
            operations.create_network_peering,
            (network_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def peering(
        self,
        network_id: str,
        peering_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> types.NetworkPeering:
        """Get a peering, from either side."""
        return self._call(operations.get_network_peering, (network_id, peering_id), timeout=timeout, max_retries=max_retries)

    def delete_peering(
        self,
        network_id: str,
        peering_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.DeletedNetwork:
        """Disconnect two networks, from either side."""
        return self._call(
            operations.delete_network_peering,
            (network_id, peering_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class OsTemplates(Resource):
    def list(self, *, timeout: float | None = None, max_retries: int | None = None) -> builtins.list[types.OsTemplate]:
        """List OS templates."""
        return self._call(operations.list_os_templates, (), timeout=timeout, max_retries=max_retries)

    def get(self, slug: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.OsTemplate:
        """Get an OS template."""
        return self._call(operations.get_os_template, (slug,), timeout=timeout, max_retries=max_retries)


class PlacementGroups(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListPlacementGroupsQuery],
    ) -> Pages[types.PlacementGroup]:
        """List placement groups, newest first."""
        return self._pages(operations.list_placement_groups, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreatePlacementGroup],
    ) -> types.PlacementGroup:
        """Create a placement group. VMs are created in it with placementGroupId."""
        return self._call(
            operations.create_placement_group,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, placement_group_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.PlacementGroup:
        """Get a placement group with its VMs."""
        return self._call(operations.get_placement_group, (placement_group_id,), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        placement_group_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.RenamePlacementGroupBody],
    ) -> types.PlacementGroup:
        """Rename or label a placement group. Its policy stays as it was created."""
        return self._call(
            operations.rename_placement_group,
            (placement_group_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def delete(
        self,
        placement_group_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.DeletePlacementGroupData:
        """Delete a placement group that has no VMs."""
        return self._call(
            operations.delete_placement_group,
            (placement_group_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class Plans(Resource):
    def list(self, *, timeout: float | None = None, max_retries: int | None = None) -> builtins.list[types.Plan]:
        """List plans."""
        return self._call(operations.list_plans, (), timeout=timeout, max_retries=max_retries)

    def availability(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListAvailabilityQuery],
    ) -> builtins.list[types.Availability]:
        """Say which plan can be had in which region now, for which architecture, and why not."""
        return self._call(operations.list_availability, (), timeout=timeout, max_retries=max_retries, query=query)


class Projects(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListProjectsQuery],
    ) -> Pages[types.Project]:
        """List the projects that the account pays for, newest first."""
        return self._pages(operations.list_projects, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateProjectBody],
    ) -> types.Project:
        """Make a project, with members and API tokens of its own."""
        return self._call(
            operations.create_project,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, project_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Project:
        """Get a project."""
        return self._call(operations.get_project, (project_id,), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        project_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateProjectBody],
    ) -> types.Project:
        """Rename a project, or change its budget."""
        return self._call(
            operations.update_project,
            (project_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def delete(
        self,
        project_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.DeleteProjectData:
        """Delete a project without resources; its members, API tokens, webhooks, alerts and tickets end with it."""
        return self._call(
            operations.delete_project,
            (project_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class Regions(Resource):
    def list(self, *, timeout: float | None = None, max_retries: int | None = None) -> builtins.list[types.Region]:
        """List regions."""
        return self._call(operations.list_regions, (), timeout=timeout, max_retries=max_retries)

    def nodes(self, region_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> builtins.list[types.Node]:
        """List a region's hosts."""
        return self._call(operations.list_nodes, (region_id,), timeout=timeout, max_retries=max_retries)


class Snapshots(Resource):
    def list(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListSnapshotsQuery],
    ) -> Pages[types.Snapshot]:
        """List the snapshots of a VM, newest first."""
        return self._pages(operations.list_snapshots, (vm_id,), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateSnapshot],
    ) -> types.SnapshotCreatedWithVmId:
        """Take a snapshot of a VM."""
        return self._call(
            operations.create_snapshot,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_create(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateSnapshot],
    ) -> types.Quote:
        """What it would cost. Take a snapshot of a VM."""
        return self._call(
            operations.quote_create_snapshot,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, vm_id: str, snapshot_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Snapshot:
        """Get a snapshot."""
        return self._call(operations.get_snapshot, (vm_id, snapshot_id), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        vm_id: str,
        snapshot_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateSnapshot],
    ) -> types.Snapshot:
        """Rename, describe or label a snapshot."""
        return self._call(
            operations.update_snapshot,
            (vm_id, snapshot_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def restore(
        self,
        vm_id: str,
        snapshot_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.ActionStartedWithVmId:
        """Put a VM back to the moment of a snapshot; what was written since is lost."""
        return self._call(
            operations.restore_snapshot,
            (vm_id, snapshot_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def delete(
        self,
        vm_id: str,
        snapshot_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.ActionStartedWithVmId:
        """Delete a snapshot."""
        return self._call(
            operations.delete_snapshot,
            (vm_id, snapshot_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class SshKeys(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListSshKeysQuery],
    ) -> Pages[types.SshKey]:
        """List SSH keys, newest first."""
        return self._pages(operations.list_ssh_keys, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateSshKeyBody],
    ) -> types.SshKey:
        """Add an SSH key."""
        return self._call(
            operations.create_ssh_key,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, ssh_key_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.SshKey:
        """Get an SSH key."""
        return self._call(operations.get_ssh_key, (ssh_key_id,), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        ssh_key_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.RenameSshKeyBody],
    ) -> types.SshKey:
        """Rename or label an SSH key."""
        return self._call(
            operations.rename_ssh_key,
            (ssh_key_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def delete(
        self,
        ssh_key_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.DeleteSshKeyData:
        """Delete an SSH key. VMs it was installed on keep it: remove it inside them, or rebuild them."""
        return self._call(
            operations.delete_ssh_key,
            (ssh_key_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class Tickets(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListTicketsQuery],
    ) -> Pages[types.Ticket]:
        """List tickets, newest first."""
        return self._pages(operations.list_tickets, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateTicketBody],
    ) -> types.TicketWithReplies:
        """Ask support something."""
        return self._call(
            operations.create_ticket,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, ticket_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.TicketWithReplies:
        """Get a ticket with its replies."""
        return self._call(operations.get_ticket, (ticket_id,), timeout=timeout, max_retries=max_retries)

    def reply(
        self,
        ticket_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.ReplyToTicketBody],
    ) -> types.TicketReply:
        """Add to a ticket; a closed one is open again."""
        return self._call(
            operations.reply_to_ticket,
            (ticket_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )


class Tokens(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListTokensQuery],
    ) -> Pages[types.Token]:
        """List the API tokens of the account, newest first."""
        return self._pages(operations.list_tokens, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateTokenBody],
    ) -> types.NewToken:
        """Make an API token; its secret is in this answer and nowhere else."""
        return self._call(
            operations.create_token,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, token_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Token:
        """Get an API token, without its secret."""
        return self._call(operations.get_token, (token_id,), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        token_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateTokenBody],
    ) -> types.Token:
        """Change or revoke an API token. A token can make another do less, or as much as it may do itself."""
        return self._call(
            operations.update_token,
            (token_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def revoke(
        self,
        token_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.RevokedToken:
        """Revoke and delete an API token and all that were made with it, which stop working at once."""
        return self._call(
            operations.revoke_token,
            (token_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class Vms(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListVmsQuery],
    ) -> Pages[types.VmListItem]:
        """List VMs."""
        return self._pages(operations.list_vms, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateVm],
    ) -> types.VmCreatedWithVmId:
        """Create a VM, or several that are alike."""
        return self._call(
            operations.create_vm,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateVm],
    ) -> types.CreateQuote:
        """What it would cost. Create a VM, or several that are alike."""
        return self._call(
            operations.quote_create_vm,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, vm_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Vm:
        """Get a VM."""
        return self._call(operations.get_vm, (vm_id,), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateVm],
    ) -> types.Vm:
        """Rename, label or protect a VM, switch its daily backups or 10G, set when they are made and how long they are kept, its placement
        group, or the names of its addresses in reverse DNS."""
        return self._call(
            operations.update_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_update(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateVm],
    ) -> types.Quote:
        """What it would cost. Rename, label or protect a VM, switch its daily backups or 10G, set when they are made and how long they are
        kept, its placement group, or the names of its addresses in reverse DNS."""
        return self._call(
            operations.quote_update_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def delete(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.ActionStartedWithVmId:
        """Delete a VM."""
        return self._call(operations.delete_vm, (vm_id,), timeout=timeout, max_retries=max_retries, idempotency_key=idempotency_key)

    def quote_delete(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.Quote:
        """What it would cost. Delete a VM."""
        return self._call(
            operations.quote_delete_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def start(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.ActionStartedWithVmId:
        """Start a VM."""
        return self._call(operations.start_vm, (vm_id,), timeout=timeout, max_retries=max_retries, idempotency_key=idempotency_key)

    def stop(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.StopVmBody],
    ) -> types.ActionStartedWithVmId:
        """Stop a VM."""
        return self._call(
            operations.stop_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body or None,
        )

    def restart(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.RestartVmBody],
    ) -> types.ActionStartedWithVmId:
        """Restart a VM."""
        return self._call(
            operations.restart_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body or None,
        )

    def upgrade(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpgradeVm],
    ) -> types.ActionStartedWithVmId:
        """Upgrade a VM to a larger plan."""
        return self._call(
            operations.upgrade_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_upgrade(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpgradeVm],
    ) -> types.ResizeQuote:
        """What it would cost. Upgrade a VM to a larger plan."""
        return self._call(
            operations.quote_upgrade_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def resize(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.ResizeVm],
    ) -> types.ActionStartedWithVmId:
        """Change the size of a VM, up or down."""
        return self._call(
            operations.resize_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_resize(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.ResizeVm],
    ) -> types.ResizeQuote:
        """What it would cost. Change the size of a VM, up or down."""
        return self._call(
            operations.quote_resize_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def rebuild(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.RebuildVm],
    ) -> types.ActionStartedWithVmId:
        """Reinstall a VM; everything on its disk is lost."""
        return self._call(
            operations.rebuild_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_rebuild(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.RebuildVm],
    ) -> types.Quote:
        """What it would cost. Reinstall a VM; everything on its disk is lost."""
        return self._call(
            operations.quote_rebuild_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def shelve(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.ActionStartedWithVmId:
        """Take a VM off its host: its disk is stored, and until it is unshelved it costs its disk and addresses only."""
        return self._call(operations.shelve_vm, (vm_id,), timeout=timeout, max_retries=max_retries, idempotency_key=idempotency_key)

    def quote_shelve(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.Quote:
        """What it would cost. Take a VM off its host: its disk is stored, and until it is unshelved it costs its disk and addresses
        only."""
        return self._call(
            operations.quote_shelve_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def unshelve(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.ActionStartedWithVmId:
        """Bring a shelved VM back to a host, with its disk and addresses; it is started if it ran when it was shelved."""
        return self._call(
            operations.unshelve_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def quote_unshelve(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.Quote:
        """What it would cost. Bring a shelved VM back to a host, with its disk and addresses; it is started if it ran when it was
        shelved."""
        return self._call(
            operations.quote_unshelve_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def rescue(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.RescueVm],
    ) -> types.ActionStartedWithVmId:
        """Restart a VM into a rescue system, with its own disk attached beside it, to mend that; it ends by itself after 24 hours."""
        return self._call(
            operations.rescue_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def unrescue(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.ActionStartedWithVmId:
        """End the rescue of a VM: it is restarted from its own disk, and what is on the disk of the rescue system is lost."""
        return self._call(
            operations.unrescue_vm,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def attach_iso(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.AttachIso],
    ) -> types.ActionStartedWithVmId:
        """Put an ISO image into the CD drive of a VM, which starts from it first until it is taken out."""
        return self._call(
            operations.attach_iso,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def detach_iso(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.ActionStartedWithVmId:
        """Take the ISO image out of the CD drive of a VM, at once."""
        return self._call(operations.detach_iso, (vm_id,), timeout=timeout, max_retries=max_retries, idempotency_key=idempotency_key)

    def bulk(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.StartBulkAction],
    ) -> types.BulkActionStarted:
        """Start, stop, restart, delete or snapshot all VMs with such labels or ids, an action for each. A VM that cannot is named with the
        reason, and keeps no other from it."""
        return self._call(
            operations.start_bulk_action,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_bulk(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.StartBulkAction],
    ) -> types.BulkActionQuote:
        """What it would cost. Start, stop, restart, delete or snapshot all VMs with such labels or ids, an action for each. A VM that
        cannot is named with the reason, and keeps no other from it."""
        return self._call(
            operations.quote_start_bulk_action,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def set_password(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.SetPassword],
    ) -> types.ActionStartedWithVmId:
        """Set the login password of a running VM."""
        return self._call(
            operations.set_vm_password,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def attach_network(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.AttachNetwork],
    ) -> types.ActionStartedWithVmId:
        """Attach a VM to a private network."""
        return self._call(
            operations.attach_network,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def detach_network(
        self,
        vm_id: str,
        network_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.ActionStartedWithVmId:
        """Detach a VM from a private network."""
        return self._call(
            operations.detach_network,
            (vm_id, network_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def check_reach(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CheckReach],
    ) -> types.Reach:
        """Say whether a VM reaches an address or another VM, and what decides on the way. Nothing is sent."""
        return self._call(
            operations.check_reach,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def open_console(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.OpenConsole],
    ) -> types.ConsoleLink:
        """Get a WebSocket URL that opens the console of a VM once, within 60 seconds."""
        return self._call(
            operations.open_console,
            (vm_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def metrics(
        self,
        vm_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.GetVmMetricsQuery],
    ) -> types.VmMetrics:
        """Get what a VM used of CPU, memory, disk and network over time."""
        return self._call(operations.get_vm_metrics, (vm_id,), timeout=timeout, max_retries=max_retries, query=query)

    def recent_metrics(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.GetRecentVmMetricsQuery],
    ) -> types.RecentVmMetrics:
        """Get the CPU and traffic of many VMs over the last hours, as few points each: for lists."""
        return self._call(operations.get_recent_vm_metrics, (), timeout=timeout, max_retries=max_retries, query=query)


class VolumeSnapshots(Resource):
    def list(
        self,
        volume_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListVolumeSnapshotsQuery],
    ) -> Pages[types.VolumeSnapshot]:
        """List the snapshots of a volume, newest first."""
        return self._pages(operations.list_volume_snapshots, (volume_id,), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        volume_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateSnapshot],
    ) -> types.VolumeSnapshotCreated:
        """Take a snapshot of a volume, attached or not."""
        return self._call(
            operations.create_volume_snapshot,
            (volume_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_create(
        self,
        volume_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateSnapshot],
    ) -> types.Quote:
        """What it would cost. Take a snapshot of a volume, attached or not."""
        return self._call(
            operations.quote_create_volume_snapshot,
            (volume_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(
        self,
        volume_id: str,
        snapshot_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> types.VolumeSnapshot:
        """Get a snapshot of a volume."""
        return self._call(operations.get_volume_snapshot, (volume_id, snapshot_id), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        volume_id: str,
        snapshot_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateSnapshot],
    ) -> types.VolumeSnapshot:
        """Rename, describe or label a snapshot of a volume."""
        return self._call(
            operations.update_volume_snapshot,
            (volume_id, snapshot_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def restore(
        self,
        volume_id: str,
        snapshot_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.ActionStarted:
        """Put a detached volume back to the moment of a snapshot; what was written since is lost."""
        return self._call(
            operations.restore_volume_snapshot,
            (volume_id, snapshot_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def delete(
        self,
        volume_id: str,
        snapshot_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.ActionStarted:
        """Delete a snapshot of a volume."""
        return self._call(
            operations.delete_volume_snapshot,
            (volume_id, snapshot_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class Volumes(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListVolumesQuery],
    ) -> Pages[types.Volume]:
        """List volumes, newest first."""
        return self._pages(operations.list_volumes, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateVolume],
    ) -> types.Volume:
        """Create a disk that can move between VMs. It is charged monthly per GiB, attached or not."""
        return self._call(
            operations.create_volume,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateVolume],
    ) -> types.Quote:
        """What it would cost. Create a disk that can move between VMs. It is charged monthly per GiB, attached or not."""
        return self._call(
            operations.quote_create_volume,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, volume_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Volume:
        """Get a volume."""
        return self._call(operations.get_volume, (volume_id,), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        volume_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateVolume],
    ) -> types.Volume:
        """Rename, label, protect or grow a volume. Growing is charged for the rest of the month; a running VM sees the new size at once."""
        return self._call(
            operations.update_volume,
            (volume_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def quote_update(
        self,
        volume_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateVolume],
    ) -> types.Quote:
        """What it would cost. Rename, label, protect or grow a volume. Growing is charged for the rest of the month; a running VM sees the
        new size at once."""
        return self._call(
            operations.quote_update_volume,
            (volume_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def delete(
        self,
        volume_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.DeletedVolume:
        """Delete a detached volume with its data and its snapshots. Unused whole days are refunded."""
        return self._call(
            operations.delete_volume,
            (volume_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def quote_delete(
        self,
        volume_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.Quote:
        """What it would cost. Delete a detached volume with its data and its snapshots. Unused whole days are refunded."""
        return self._call(
            operations.quote_delete_volume,
            (volume_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def attach(
        self,
        volume_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.AttachVolume],
    ) -> types.VolumeChanging:
        """Attach a volume to a VM, without a reboot."""
        return self._call(
            operations.attach_volume,
            (volume_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def detach(
        self,
        volume_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.VolumeChanging:
        """Detach a volume from its VM, without a reboot. Unmount it in the guest first."""
        return self._call(
            operations.detach_volume,
            (volume_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class Wallet(Resource):
    def get(self, *, timeout: float | None = None, max_retries: int | None = None) -> types.Wallet:
        """Get the balance and how long it lasts."""
        return self._call(operations.get_wallet, (), timeout=timeout, max_retries=max_retries)

    def transactions(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListWalletTransactionsQuery],
    ) -> Pages[types.Transaction]:
        """List wallet transactions, newest first; in a project those for it."""
        return self._pages(operations.list_wallet_transactions, (), timeout=timeout, max_retries=max_retries, query=query)

    def transaction(
        self,
        transaction_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> types.TransactionDetail:
        """Get a wallet transaction with what caused it."""
        return self._call(operations.get_wallet_transaction, (transaction_id,), timeout=timeout, max_retries=max_retries)

    def costs(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.GetWalletCostsQuery],
    ) -> types.Costs:
        """Get what a month has cost, by resource, type, project or label; in a project what was paid for it."""
        return self._call(operations.get_wallet_costs, (), timeout=timeout, max_retries=max_retries, query=query)

    def timeline(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.GetWalletTimelineQuery],
    ) -> types.WalletTimeline:
        """Get the balance of each day: the past ones, and the next ones with the renewals to come."""
        return self._call(operations.get_wallet_timeline, (), timeout=timeout, max_retries=max_retries, query=query)


class Webhooks(Resource):
    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListWebhooksQuery],
    ) -> Pages[types.Webhook]:
        """List webhooks, newest first."""
        return self._pages(operations.list_webhooks, (), timeout=timeout, max_retries=max_retries, query=query)

    def create(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.CreateWebhookBody],
    ) -> types.WebhookWithSecret:
        """Subscribe a URL to events. The secret is shown this once."""
        return self._call(
            operations.create_webhook,
            (),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def get(self, webhook_id: str, *, timeout: float | None = None, max_retries: int | None = None) -> types.Webhook:
        """Get a webhook."""
        return self._call(operations.get_webhook, (webhook_id,), timeout=timeout, max_retries=max_retries)

    def update(
        self,
        webhook_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
        **body: Unpack[types.UpdateWebhookBody],
    ) -> types.Webhook:
        """Change a webhook, or switch it off and on."""
        return self._call(
            operations.update_webhook,
            (webhook_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
            body=body,
        )

    def delete(
        self,
        webhook_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.DeleteWebhookData:
        """Delete a webhook and its delivery log."""
        return self._call(
            operations.delete_webhook,
            (webhook_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def test(
        self,
        webhook_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.TestWebhookData:
        """Send a test event now and tell what came of it."""
        return self._call(
            operations.test_webhook,
            (webhook_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def rotate_secret(
        self,
        webhook_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.WebhookWithSecret:
        """Make a new secret, shown this once. Messages carry the signature of the old one too for 24 hours."""
        return self._call(
            operations.rotate_webhook_secret,
            (webhook_id,),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )

    def deliveries(
        self,
        webhook_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.ListWebhookDeliveriesQuery],
    ) -> Pages[types.WebhookDelivery]:
        """List the deliveries of the last 30 days, newest first."""
        return self._pages(operations.list_webhook_deliveries, (webhook_id,), timeout=timeout, max_retries=max_retries, query=query)

    def delivery(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> types.WebhookDeliveryLog:
        """Get a delivery with its newest 50 attempts: request, response, latency."""
        return self._call(operations.get_webhook_delivery, (webhook_id, delivery_id), timeout=timeout, max_retries=max_retries)

    def redeliver(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        idempotency_key: IdempotencyKey = None,
    ) -> types.WebhookDelivery:
        """Deliver again, under the same webhook-id and with all attempts anew; not while it is PENDING, ten a minute for an account."""
        return self._call(
            operations.redeliver_webhook_delivery,
            (webhook_id, delivery_id),
            timeout=timeout,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )


class Resources(Resource):
    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.account = Account(connection)
        self.actions = Actions(connection)
        self.addresses = Addresses(connection)
        self.alerts = Alerts(connection)
        self.announcements = Announcements(connection)
        self.backups = Backups(connection)
        self.bandwidth = Bandwidth(connection)
        self.deposits = Deposits(connection)
        self.events = Events(connection)
        self.firewalls = Firewalls(connection)
        self.images = Images(connection)
        self.invitations = Invitations(connection)
        self.invoices = Invoices(connection)
        self.maintenances = Maintenances(connection)
        self.members = Members(connection)
        self.networks = Networks(connection)
        self.os_templates = OsTemplates(connection)
        self.placement_groups = PlacementGroups(connection)
        self.plans = Plans(connection)
        self.projects = Projects(connection)
        self.regions = Regions(connection)
        self.snapshots = Snapshots(connection)
        self.ssh_keys = SshKeys(connection)
        self.tickets = Tickets(connection)
        self.tokens = Tokens(connection)
        self.vms = Vms(connection)
        self.volume_snapshots = VolumeSnapshots(connection)
        self.volumes = Volumes(connection)
        self.wallet = Wallet(connection)
        self.webhooks = Webhooks(connection)

    def search(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        **query: Unpack[types.SearchQuery],
    ) -> builtins.list[types.SearchResult]:
        """Find things of the account by name, id, address or label, the closest first. Only kinds whose :read scope the token has."""
        return self._call(operations.search, (), timeout=timeout, max_retries=max_retries, query=query)
