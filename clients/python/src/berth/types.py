"""Generated from openapi/v1.json by `python3 -m generate`. Do not edit."""

from __future__ import annotations

import sys
from typing import Literal, TypeAlias, TypedDict, get_args

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired


class Region(TypedDict):
    id: str
    name: str
    slug: str
    country: str
    """ISO 3166 alpha-2"""
    city: str
    flag: str
    """The flag as an emoji"""
    available: bool


class Plan(TypedDict):
    id: str
    slug: str
    name: str
    vcpu: int
    ram: int
    """MiB"""
    disk: int
    """GiB"""
    storage: Literal["LOCAL", "REPLICATED"]
    """Where the disk is: LOCAL on the host of the VM, REPLICATED in several copies apart from it"""
    bandwidth: int
    """GB (10^9 bytes) per billing month; 0 = unmetered"""
    networkSpeed: int
    """Mbit/s"""
    priceMonthly: str
    """Decimal with two places, for example "12.00"; debits are negative"""
    currency: str
    copyPriceMonthly: str
    """Of each GiB of snapshots and on-demand backups, a month; 0.00 = free"""
    ipv4PriceMonthly: str
    """How much less a VM without a public IPv4 address costs a month (publicIpv4)"""
    shelvedPriceMonthly: str
    """What a VM with a public IPv4 address costs a month while it is shelved, its snapshots and backups apart"""
    throttleMbps: int
    """Mbit/s once the bandwidth is used up"""
    diskIops: int | None
    """Disk operations a second, reads and writes together; null = unlimited"""
    diskMiBPerSecond: int | None
    """MiB a second to and from the disk together; null = unlimited"""
    dedicatedCpu: bool
    """True where each vCPU is a CPU of the host that no other VM has; false where they are shared"""
    traits: list[str]
    """What the hosts of its VMs have, such as 10g, or words of the operator such as gpu"""
    available: bool
    """False where it is not sold, or no host is large enough for it and has its traits"""
    regions: list[str]
    """Slugs of the regions it is sold in"""


class OsTemplate(TypedDict):
    id: str
    slug: str
    name: str
    version: str
    distribution: str
    arch: str
    """Of its VMs: x86_64 or aarch64"""
    firmware: Literal["bios", "uefi", "secure-boot"]
    """Of its VMs; secure-boot: UEFI that starts only what is signed"""
    tpm: bool
    """Whether its VMs have a TPM 2.0"""
    minDisk: int
    """GiB"""
    minRam: int
    """MiB"""
    defaultUser: str
    cloudInit: bool
    sizeBytes: str
    """Bytes as a decimal string"""
    checksum: str
    available: bool
    deprecatedAt: str | None
    """ISO 8601, UTC"""
    createdAt: str
    """ISO 8601, UTC"""


class Budget(TypedDict):
    monthlyAmount: str | None
    """Decimal with two places; null = no limit"""
    maxVms: int | None
    labelSelector: str | None
    used: str
    """What was charged through it in this calendar month (UTC), renewals included, less what was given back"""
    remaining: str | None
    """What can still be charged this month: no more than is left to the tokens that it was made with"""
    vms: int
    """VMs that were created through it and exist"""


class Account(TypedDict):
    id: str
    email: str | None
    """Null of a project"""
    name: str
    isProject: bool
    """Whether another account pays for it: what it costs and its limits are those of that account"""
    requireTwoFactor: bool
    """Whether members without two-factor authentication can do nothing in the account"""
    budget: Budget | None
    createdAt: str
    """ISO 8601, UTC"""


class AccountLimit(TypedDict):
    name: str
    """vms, vcpu, ram (MiB), disk (GiB), copies (GiB of snapshots and backups), projects, networks, addresses, images, imageStorage (GiB of
    images), failedImportGibPerDay (GiB that imports of images that failed received and unpacked in 24 hours), volumes, volumeStorage (GiB),
    firewalls, rulesPerFirewall, snapshotsPerVm, snapshotsPerVolume, webhooks, sshKeys, tokens, openTickets or repliesPerTicket; others may
    follow"""
    limit: int
    """The most the account, or each single thing, may hold"""
    used: int | None
    """How much of it is in use; null where the limit holds for each single thing"""


class Member(TypedDict):
    id: str
    """Of the person; the same in the audit log"""
    email: str
    name: str
    role: Literal["owner", "admin", "operator", "billing", "read-only", "custom"]
    scopes: list[str]
    """What the role allows"""
    createdAt: str
    """ISO 8601, UTC"""
    twoFactorEnabled: bool
    inherited: bool
    """Of a project: as owner or admin of the account that pays, where it can be changed"""
    budget: Budget | None


class Pagination(TypedDict):
    page: int
    limit: int
    total: int
    totalPages: int


class ChangedMember(TypedDict):
    id: str
    """Of the person; the same in the audit log"""
    email: str
    name: str
    role: Literal["owner", "admin", "operator", "billing", "read-only", "custom"]
    scopes: list[str]
    """What the role allows"""
    createdAt: str
    """ISO 8601, UTC"""
    twoFactorEnabled: bool
    inherited: bool
    """Of a project: as owner or admin of the account that pays, where it can be changed"""
    budget: Budget | None
    revokedTokenIds: list[str]
    """Of API tokens that the person had made and that could do more than the person can now: they stopped working"""


class RemovedMember(TypedDict):
    id: str
    deleted: Literal[True]
    revokedTokenIds: list[str]
    """Of API tokens that the person had made and that could do more than the person can now: they stopped working"""


class BudgetLimits(TypedDict):
    monthlyAmount: str | None
    """Decimal with two places; null = no limit"""
    maxVms: int | None
    labelSelector: str | None


class Invitation(TypedDict):
    id: str
    email: str
    role: Literal["owner", "admin", "operator", "billing", "read-only", "custom"]
    scopes: list[str]
    """What the role allows"""
    budget: BudgetLimits | None
    invitedBy: str
    """E-mail address of the person, or name of the token"""
    createdAt: str
    """ISO 8601, UTC"""
    expiresAt: str
    """ISO 8601, UTC"""


class NewInvitation(TypedDict):
    id: str
    email: str
    role: Literal["owner", "admin", "operator", "billing", "read-only", "custom"]
    scopes: list[str]
    """What the role allows"""
    budget: BudgetLimits | None
    invitedBy: str
    """E-mail address of the person, or name of the token"""
    createdAt: str
    """ISO 8601, UTC"""
    expiresAt: str
    """ISO 8601, UTC"""
    url: str | None
    """The link, shown this once where no mail can be sent: hand it over yourself. Otherwise null: it is mailed"""


class DeletedInvitation(TypedDict):
    id: str
    deleted: Literal[True]


class ActionInitialization(TypedDict):
    status: Literal["PENDING", "RUNNING", "COMPLETED", "FAILED", "UNSUPPORTED", "UNKNOWN"]
    """What came of userData. PENDING: the guest has not said anything yet. UNSUPPORTED: the image has no cloud-init, or no guest agent to
    ask. UNKNOWN: the guest did not say within 24 hours"""
    seconds: int | None
    """From the start of cloud-init to its end; null before, and where the guest does not say"""
    errors: list[str]
    """What went wrong, as the guest says: at most 10"""
    output: str | None
    """The last lines that cloud-init has written, at most 4,096 characters; null until it has ended"""


class Action(TypedDict):
    id: str
    vmId: str
    """The VM; of an action of a floating address the one that gets it, or else loses it; empty for an image that is imported and a volume
    that is detached"""
    addressId: str | None
    """Only of an action of a floating address"""
    volumeId: str | None
    """Only of an action of a volume"""
    imageId: str | None
    """Only of an action of an image"""
    action: str
    """CREATE, START, STOP, RESTART, UPGRADE, REBUILD, DELETE, …"""
    status: Literal["PENDING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED"]
    progress: int
    error: str | None
    """Why it failed or was cancelled"""
    errorCode: str | None
    steps: list[ActionSteps]
    initialization: ActionInitialization | None
    startedAt: str | None
    """ISO 8601, UTC"""
    completedAt: str | None
    """ISO 8601, UTC"""
    createdAt: str
    """ISO 8601, UTC"""


class ActionSteps(TypedDict):
    name: str
    status: Literal["PENDING", "RUNNING", "COMPLETED", "FAILED", "UNDONE"]
    startedAt: str | None
    """ISO 8601, UTC"""
    completedAt: str | None
    """ISO 8601, UTC"""


class VmListItem(TypedDict):
    id: str
    name: str
    hostname: str
    status: Literal["PROVISIONING", "RUNNING", "STOPPED", "SUSPENDED", "REBUILDING", "UPGRADING", "UNMANAGED", "ERROR"]
    vcpu: int
    ram: int
    """MiB"""
    disk: int
    """GiB"""
    storage: Literal["LOCAL", "REPLICATED"]
    """Where the disk is: LOCAL on the host of the VM, REPLICATED in several copies apart from it"""
    dedicatedCpu: bool
    """Each vCPU is a CPU of the host that no other VM has"""
    bandwidth: int
    """GB (10^9 bytes) per billing month; 0 = unmetered"""
    networkSpeed: int
    """Mbit/s"""
    network10gEnabled: bool
    dailyBackupEnabled: bool
    isProtected: bool
    publicIpv4: bool
    """Whether it has, or is to have, a public IPv4 address"""
    ipAddress: str | None
    """The public IPv4 address; null while none is assigned, and without publicIpv4"""
    ipv6Address: str | None
    """Null where the region has no IPv6, and until the next rebuild of a VM from before"""
    ipv6Prefix: str | None
    """The /64 of its own, with ipv6Address in it; null where it has that address alone"""
    region: VmListItemRegion
    plan: VmListItemPlan
    osTemplate: VmListItemOsTemplate
    billing: VmListItemBilling
    createdAt: str
    """ISO 8601, UTC"""
    labels: dict[str, str]
    shelvedAt: str | None
    """Since when it is shelved: on no host, STOPPED, and paid for its disk and addresses only"""
    hostUnreachableSince: str | None
    """Since when its host does not answer: `status` is what was known then. Null: it answers"""


class VmListItemRegion(TypedDict):
    slug: str
    name: str


class VmListItemPlan(TypedDict):
    slug: str
    name: str
    priceMonthly: str
    """Decimal with two places, for example "12.00"; debits are negative"""


class VmListItemOsTemplate(TypedDict):
    slug: str
    name: str
    version: str
    arch: str


class VmListItemBilling(TypedDict):
    nextRenewalAt: str
    """Nothing is charged then while status is CANCELLED (it failed to provision), and of an UNMANAGED VM"""
    status: Literal["ACTIVE", "PAST_DUE", "SUSPENDED", "CANCELLED"]
    priceMonthly: str
    """What the next renewal will charge, add-ons included"""


class VmEventData(TypedDict):
    vm: VmListItem
    actionId: str | None
    """The action that caused it; null where none did"""
    reason: str | None
    """Why, where its owner did not ask for it"""
    sequence: int
    """Rises with every event of the VM: of two events, the one with the larger sequence is later"""


class VmEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal[
        "vm.created",
        "vm.started",
        "vm.stopped",
        "vm.restarted",
        "vm.suspended",
        "vm.terminated",
        "vm.provisioning",
        "vm.error",
        "vm.upgrading",
        "vm.upgraded",
        "vm.upgrade_failed",
        "vm.resizing",
        "vm.resized",
        "vm.resize_failed",
        "vm.rebuilding",
        "vm.rebuilt",
        "vm.rebuild_failed",
        "vm.shelved",
        "vm.shelve_failed",
        "vm.unshelved",
        "vm.unshelve_failed",
        "vm.rescue_started",
        "vm.rescue_failed",
        "vm.rescue_expired",
        "vm.rescue_ended",
        "vm.recovered",
        "vm.lost",
        "vm.migrated",
        "vm.unsuspended",
        "vm.unmanaged",
        "vm.adopted",
        "vm.renewed",
        "vm.past_due",
        "bandwidth.throttled",
        "bandwidth.unthrottled",
    ]
    timestamp: str
    """ISO 8601, UTC"""
    data: VmEventData


class IsoEventData(TypedDict):
    iso: IsoEventDataIso
    vm: VmListItem
    actionId: str | None
    """The action that caused it; null where none did"""
    reason: str | None
    """Why, where its owner did not ask for it"""
    sequence: int
    """Rises with every event of the VM: of two events, the one with the larger sequence is later"""


class IsoEventDataIso(TypedDict):
    imageId: str
    name: str


class IsoEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["vm.iso_attached", "vm.iso_detached"]
    timestamp: str
    """ISO 8601, UTC"""
    data: IsoEventData


class Initialization(TypedDict):
    """Of a VM with userData"""
    status: Literal["PENDING", "RUNNING", "COMPLETED", "FAILED", "UNSUPPORTED", "UNKNOWN"]
    """What came of userData. PENDING: the guest has not said anything yet. UNSUPPORTED: the image has no cloud-init, or no guest agent to
    ask. UNKNOWN: the guest did not say within 24 hours"""
    seconds: int | None
    """From the start of cloud-init to its end; null before, and where the guest does not say"""
    errors: list[str]
    """What went wrong, as the guest says: at most 10"""


class InitializationEventData(TypedDict):
    initialization: Initialization
    vm: VmListItem
    actionId: str | None
    """The action that caused it; null where none did"""
    reason: str | None
    """Why, where its owner did not ask for it"""
    sequence: int
    """Rises with every event of the VM: of two events, the one with the larger sequence is later"""


class InitializationEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["vm.initialized", "vm.initialization_failed"]
    timestamp: str
    """ISO 8601, UTC"""
    data: InitializationEventData


class NetworkEventData(TypedDict):
    network: NetworkEventDataNetwork
    vm: VmListItem
    actionId: str | None
    """The action that caused it; null where none did"""
    reason: str | None
    """Why, where its owner did not ask for it"""
    sequence: int
    """Rises with every event of the VM: of two events, the one with the larger sequence is later"""


class NetworkEventDataNetwork(TypedDict):
    id: str


class NetworkEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["vm.network_attached", "vm.network_detached"]
    timestamp: str
    """ISO 8601, UTC"""
    data: NetworkEventData


class LowBalanceEventData(TypedDict):
    transaction: None
    wallet: LowBalanceEventDataWallet
    dueNext7Days: str
    """What renewals will charge within 7 days: decimal with two places"""


class LowBalanceEventDataWallet(TypedDict):
    balance: str
    """Decimal with two places, for example "12.00"; debits are negative"""
    currency: str
    """ISO 4217, for example USD"""


class LowBalanceEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["billing.low_balance"]
    timestamp: str
    """ISO 8601, UTC"""
    data: LowBalanceEventData


class Transaction(TypedDict):
    id: str
    type: Literal[
        "DEPOSIT",
        "CREDIT",
        "VM_CHARGE",
        "VM_RENEWAL",
        "VM_UPGRADE",
        "VM_REFUND",
        "BANDWIDTH_PACK",
        "ADDON_CHARGE",
        "ADJUSTMENT",
        "ADDRESS_CHARGE",
        "ADDRESS_RENEWAL",
        "ADDRESS_REFUND",
        "IMAGE_CHARGE",
        "IMAGE_RENEWAL",
        "IMAGE_REFUND",
        "VOLUME_CHARGE",
        "VOLUME_UPGRADE",
        "VOLUME_RENEWAL",
        "VOLUME_REFUND",
        "VM_UNSHELVE",
    ]
    description: str
    referenceType: Literal["VM", "PAYMENT", "ADMIN", "ADDRESS", "IMAGE", "VOLUME"]
    referenceId: str
    """The id of what the money was for or came from"""
    createdAt: str
    """ISO 8601, UTC"""
    amount: str
    """Decimal with two places, for example "12.00"; debits are negative"""
    balanceAfter: str | None
    """Decimal with two places; null in a project, whose members do not see the wallet of the account that pays"""
    project: TransactionProject | None


class TransactionProject(TypedDict):
    """What it was paid for; null = for the account itself"""
    id: str
    name: str
    """As it was called then"""


class PaymentEventData(TypedDict):
    source: NotRequired[Literal["payment", "operator"]]
    """Who paid: a deposit, or a credit of the operator. Absent before 0.2.0"""
    transaction: Transaction
    wallet: PaymentEventDataWallet


class PaymentEventDataWallet(TypedDict):
    balance: str
    """Decimal with two places, for example "12.00"; debits are negative"""
    currency: str
    """ISO 4217, for example USD"""


class PaymentEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["billing.payment_received"]
    timestamp: str
    """ISO 8601, UTC"""
    data: PaymentEventData


class Ticket(TypedDict):
    id: str
    subject: str
    status: Literal["OPEN", "ANSWERED", "CLOSED"]
    """OPEN waits for support, ANSWERED for you"""
    replyCount: int
    createdAt: str
    """ISO 8601, UTC"""
    updatedAt: str
    """ISO 8601, UTC"""
    closedAt: str | None
    """ISO 8601, UTC"""


class TicketReply(TypedDict):
    id: str
    author: Literal["customer", "staff"]
    body: str
    createdAt: str
    """ISO 8601, UTC"""


class TicketReplyEventData(TypedDict):
    ticket: Ticket
    reply: TicketReply


class TicketReplyEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["ticket.reply"]
    timestamp: str
    """ISO 8601, UTC"""
    data: TicketReplyEventData


class TicketClosedEventData(TypedDict):
    ticket: Ticket


class TicketClosedEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["ticket.closed"]
    timestamp: str
    """ISO 8601, UTC"""
    data: TicketClosedEventData


class Snapshot(TypedDict):
    id: str
    vmId: str
    name: str
    description: str
    labels: dict[str, str]
    status: Literal["CREATING", "AVAILABLE", "RESTORING", "DELETING", "FAILED"]
    size: str
    """Bytes as a decimal string"""
    sizeRefreshedAt: str | None
    """ISO 8601, UTC"""
    createdAt: str
    """ISO 8601, UTC"""


class SnapshotEventData(TypedDict):
    snapshot: Snapshot
    vm: VmListItem
    actionId: str | None
    """The action that caused it; null where none did"""
    reason: str | None
    """Why, where its owner did not ask for it"""
    sequence: int
    """Rises with every event of the VM: of two events, the one with the larger sequence is later"""


class SnapshotEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["snapshot.created", "snapshot.deleted", "snapshot.restored"]
    timestamp: str
    """ISO 8601, UTC"""
    data: SnapshotEventData


class Backup(TypedDict):
    id: str
    vmId: str
    name: str
    labels: dict[str, str]
    type: Literal["DAILY", "MANUAL"]
    status: Literal["PENDING", "RUNNING", "AVAILABLE", "RESTORING", "DELETING", "FAILED"]
    size: str
    """Bytes as a decimal string"""
    disk: int | None
    """GiB; a VM that is made from it needs a disk as large. Null once its VM is deleted"""
    startedAt: str | None
    """ISO 8601, UTC"""
    completedAt: str | None
    """ISO 8601, UTC"""
    expiresAt: str | None
    """Of daily backups: until when backupPolicy of the VM keeps it. Without a newer one it is kept, unless daily backups are switched
    off"""
    error: str | None
    """Why it failed"""
    consistency: Literal["FILESYSTEM", "CRASH"] | None
    warning: str | None
    """What it does not protect from, where there is only one host to keep it on"""
    verification: Literal["BOOTED", "RUNNING", "FAILED"] | None
    verifiedAt: str | None
    """When it was last proved. Null if never, or if the last trial failed"""
    verificationError: str | None
    """Why the trial restore failed"""
    restoreSeconds: float | None
    """How long the trial took until the disk was restored"""
    bootSeconds: float | None
    """How long its guest then took until the guest agent answered"""
    hasScreenshot: bool
    """Whether there is a picture of the screen of that guest"""
    createdAt: str
    """ISO 8601, UTC"""


class BackupEventData(TypedDict):
    backup: Backup
    vm: VmListItem
    actionId: str | None
    """The action that caused it; null where none did"""
    reason: str | None
    """Why, where its owner did not ask for it"""
    sequence: int
    """Rises with every event of the VM: of two events, the one with the larger sequence is later"""


class BackupEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["backup.created", "backup.failed", "backup.deleted", "backup.restored", "backup.verified", "backup.verification_failed"]
    timestamp: str
    """ISO 8601, UTC"""
    data: BackupEventData


class RestoreFailedEventData(TypedDict):
    snapshot: NotRequired[Snapshot]
    backup: NotRequired[Backup]
    vm: VmListItem
    actionId: str | None
    """The action that caused it; null where none did"""
    reason: str | None
    """Why, where its owner did not ask for it"""
    sequence: int
    """Rises with every event of the VM: of two events, the one with the larger sequence is later"""


class RestoreFailedEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["vm.restore_failed"]
    timestamp: str
    """ISO 8601, UTC"""
    data: RestoreFailedEventData


class Image(TypedDict):
    id: str
    """Given as osTemplateId where a VM is made or rebuilt"""
    name: str
    labels: dict[str, str]
    kind: Literal["DISK", "ISO"]
    """DISK: VMs are made from it. ISO: it is put into the CD drives of VMs, which start from it"""
    status: Literal["CREATING", "AVAILABLE", "FAILED", "DELETING"]
    error: str | None
    """Why it failed"""
    lockedUntil: str | None
    """Of a deleted one: object lock keeps it in a backup target until then at the latest, and it counts in imageStorage meanwhile"""
    isProtected: bool
    """Whether it is protected against deletion"""
    source: ImageSource
    size: str
    """Bytes as a decimal string"""
    disk: int | None
    """GiB that the disk of a VM needs at least"""
    arch: str | None
    defaultUser: str | None
    """Who gets the SSH keys and the password in a VM from it"""
    checksum: str | None
    """sha256 of the image as it is kept"""
    consistency: Literal["FILESYSTEM", "CRASH"] | None
    billing: ImageBilling | None
    createdAt: str
    """ISO 8601, UTC"""
    updatedAt: str
    """ISO 8601, UTC"""


class ImageSource(TypedDict):
    type: Literal["VM", "SNAPSHOT", "BACKUP", "URL"]
    id: str | None
    """Of the VM, snapshot or backup, which may be deleted by now"""
    url: str | None
    vmId: str | None
    """The VM that it shows, also where it was made from a snapshot or backup"""


class ImageBilling(TypedDict):
    nextRenewalAt: str
    """ISO 8601, UTC"""
    status: Literal["ACTIVE", "PAST_DUE", "SUSPENDED"]
    priceMonthly: str
    """What the next renewal will charge"""


class ImageEventData(TypedDict):
    image: Image
    actionId: str | None
    reason: str | None
    """Why it happened, where that is not clear"""


class ImageEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["image.creating", "image.created", "image.failed", "image.updated", "image.renewed", "image.past_due", "image.deleted"]
    timestamp: str
    """ISO 8601, UTC"""
    data: ImageEventData


class ConsoleEventData(TypedDict):
    console: ConsoleEventDataConsole
    vm: VmListItem
    actionId: str | None
    """The action that caused it; null where none did"""
    reason: str | None
    """Why, where its owner did not ask for it"""
    sequence: int
    """Rises with every event of the VM: of two events, the one with the larger sequence is later"""


class ConsoleEventDataConsole(TypedDict):
    type: Literal["serial", "vnc"]
    sessionId: str


class ConsoleEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["vm.console_opened"]
    timestamp: str
    """ISO 8601, UTC"""
    data: ConsoleEventData


class Address(TypedDict):
    id: str
    name: str
    labels: dict[str, str]
    address: str
    """IPv4"""
    region: AddressRegion
    vmId: str | None
    """The VM that has it; null while it is unassigned"""
    guestState: Literal["PENDING", "CONFIGURED", "MANUAL"] | None
    guestReason: str | None
    """Why it is not configured in the guest yet, and what to do"""
    currentAction: AddressCurrentAction | None
    reverseName: str | None
    """What reverse DNS (PTR) says of the address, or is about to"""
    reverseNameState: Literal["PENDING", "SET", "FAILED"] | None
    reverseNameReason: str | None
    """Why the name server does not have it yet"""
    billing: AddressBilling
    createdAt: str
    """ISO 8601, UTC"""
    updatedAt: str
    """ISO 8601, UTC"""


class AddressRegion(TypedDict):
    slug: str
    name: str


class AddressCurrentAction(TypedDict):
    id: str
    action: str
    status: str
    progress: int


class AddressBilling(TypedDict):
    nextRenewalAt: str
    """ISO 8601, UTC"""
    status: Literal["ACTIVE", "PAST_DUE", "SUSPENDED"]
    priceMonthly: str
    """What the next renewal will charge"""


class AddressEventData(TypedDict):
    address: Address
    actionId: str | None
    reason: str | None
    """Why it happened, where that is not clear"""


class AddressEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal[
        "address.reserved",
        "address.assigned",
        "address.unassigned",
        "address.assignment_failed",
        "address.renewed",
        "address.past_due",
        "address.released",
    ]
    timestamp: str
    """ISO 8601, UTC"""
    data: AddressEventData


class Volume(TypedDict):
    id: str
    name: str
    labels: dict[str, str]
    sizeGiB: int
    storage: Literal["LOCAL", "REPLICATED"]
    """Where the disk is: LOCAL on the host of the VM, REPLICATED in several copies apart from it"""
    region: VolumeRegion
    status: Literal["AVAILABLE", "ATTACHING", "ATTACHED", "DETACHING"]
    vmId: str | None
    """The VM that has it; null while it is detached"""
    devicePath: str
    """Where a Linux guest finds it, whichever other disks the VM has"""
    isProtected: bool
    currentAction: VolumeCurrentAction | None
    billing: VolumeBilling
    createdAt: str
    """ISO 8601, UTC"""
    updatedAt: str
    """ISO 8601, UTC"""


class VolumeRegion(TypedDict):
    slug: str
    name: str


class VolumeCurrentAction(TypedDict):
    id: str
    action: str
    status: str
    progress: int


class VolumeBilling(TypedDict):
    nextRenewalAt: str
    """ISO 8601, UTC"""
    status: Literal["ACTIVE", "PAST_DUE", "SUSPENDED"]
    priceMonthly: str
    """What the next renewal will charge"""


class VolumeEventData(TypedDict):
    volume: Volume
    actionId: str | None
    reason: str | None
    """Why it happened, where that is not clear"""


class VolumeEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal[
        "volume.created",
        "volume.attached",
        "volume.attach_failed",
        "volume.detached",
        "volume.detach_failed",
        "volume.grown",
        "volume.grow_failed",
        "volume.renewed",
        "volume.past_due",
        "volume.deleted",
    ]
    timestamp: str
    """ISO 8601, UTC"""
    data: VolumeEventData


class VolumeSnapshot(TypedDict):
    id: str
    volumeId: str
    name: str
    description: str
    labels: dict[str, str]
    status: Literal["CREATING", "AVAILABLE", "RESTORING", "DELETING", "FAILED"]
    size: str
    """Bytes as a decimal string"""
    sizeRefreshedAt: str | None
    """ISO 8601, UTC"""
    volumeSizeGiB: int
    """Of the volume when the snapshot was taken: one made from it is at least so large"""
    createdAt: str
    """ISO 8601, UTC"""


class VolumeSnapshotEventData(TypedDict):
    volume: Volume
    snapshot: VolumeSnapshot
    actionId: str | None
    reason: str | None
    """Why it happened, where that is not clear"""


class VolumeSnapshotEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal[
        "volume.snapshot_created",
        "volume.snapshot_failed",
        "volume.snapshot_deleted",
        "volume.restored",
        "volume.restore_failed",
    ]
    timestamp: str
    """ISO 8601, UTC"""
    data: VolumeSnapshotEventData


class Maintenance(TypedDict):
    id: str
    state: Literal["SCHEDULED", "IN_PROGRESS", "COMPLETED", "CANCELLED"]
    startsAt: str
    """ISO 8601, UTC"""
    endsAt: str
    """ISO 8601, UTC"""
    vmIds: list[str]
    """Your VMs that are on the host concerned now: one that is moved away before is not affected"""
    text: str
    """What the operator says about it: plain text"""
    createdAt: str
    """ISO 8601, UTC"""


class MaintenanceEventData(TypedDict):
    maintenance: Maintenance
    vms: NotRequired[list[MaintenanceEventDataVms]]
    """Those of `vmIds`, by name. Absent in events of versions that did not tell it"""


class MaintenanceEventDataVms(TypedDict):
    id: str
    name: str


class MaintenanceEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["maintenance.announced", "maintenance.cancelled"]
    timestamp: str
    """ISO 8601, UTC"""
    data: MaintenanceEventData


class EventMember(TypedDict):
    id: str
    """Of the person; the same in the audit log"""
    email: str
    name: str
    role: Literal["owner", "admin", "operator", "billing", "read-only", "custom"]
    scopes: list[str]
    """What the role allows"""
    createdAt: str
    """ISO 8601, UTC"""
    budget: BudgetLimits | None


class MemberEventData(TypedDict):
    member: EventMember


class MemberEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["member.updated"]
    timestamp: str
    """ISO 8601, UTC"""
    data: MemberEventData


class EventToken(TypedDict):
    id: str
    name: str
    prefix: str
    """The first characters of the secret, to recognise it by"""
    scopes: list[str]
    isActive: bool
    """Neither revoked nor expired"""
    expiresAt: str | None
    """ISO 8601, UTC"""
    revokedAt: str | None
    """ISO 8601, UTC"""
    allowedIps: list[str]
    """Empty = from everywhere"""
    requestsPerMinute: int
    """Its rate limit"""
    parentId: str | None
    """The token that it was made with, within which it stays and with which it is revoked; null where none was"""
    createdAt: str
    """ISO 8601, UTC"""
    budget: BudgetLimits | None


class TokenEventData(TypedDict):
    token: EventToken


class TokenEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["token.created", "token.updated", "token.revoked"]
    timestamp: str
    """ISO 8601, UTC"""
    data: TokenEventData


class AlertEventData(TypedDict):
    alert: AlertEventDataAlert
    vm: AlertEventDataVm | None
    value: float | None
    """On average over those minutes; null where there is none"""
    firedAt: str
    """ISO 8601, UTC"""
    reason: str | None
    """Why it ended, where not by the measured value"""


class AlertEventDataAlert(TypedDict):
    id: str
    name: str
    metric: Literal[
        "cpuPercent",
        "ramPercent",
        "diskReadBytesPerSecond",
        "diskWriteBytesPerSecond",
        "networkInBytesPerSecond",
        "networkOutBytesPerSecond",
        "trafficPercent",
        "balanceDays",
    ]
    comparison: Literal["ABOVE", "BELOW"]
    threshold: float
    forMinutes: int | None


class AlertEventDataVm(TypedDict):
    """Null for the account"""
    id: str
    name: str
    labels: dict[str, str]


class AlertEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["alert.fired", "alert.resolved"]
    timestamp: str
    """ISO 8601, UTC"""
    data: AlertEventData


class EventProject(TypedDict):
    id: str
    """Of an account: to name it where one of several is meant"""
    name: str
    createdAt: str
    """ISO 8601, UTC"""
    budget: BudgetLimits | None


class ProjectEventData(TypedDict):
    project: EventProject


class ProjectEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["project.created", "project.updated", "project.deleted"]
    timestamp: str
    """ISO 8601, UTC"""
    data: ProjectEventData


class EventFirewall(TypedDict):
    id: str
    name: str


class FirewallRulesChangedEventData(TypedDict):
    firewall: EventFirewall
    ruleCount: int
    rulesVersion: str
    confirmBy: str | None
    """The rules are undone by themselves then, unless they are confirmed"""


class FirewallRulesChangedEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["firewall.rules_changed"]
    timestamp: str
    """ISO 8601, UTC"""
    data: FirewallRulesChangedEventData


class FirewallRulesUndoneEventData(TypedDict):
    firewall: EventFirewall
    ruleCount: int
    rulesVersion: str
    reason: Literal["REQUESTED", "UNCONFIRMED"]
    """Somebody undid them, or nobody confirmed them in time"""


class FirewallRulesUndoneEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["firewall.rules_undone"]
    timestamp: str
    """ISO 8601, UTC"""
    data: FirewallRulesUndoneEventData


class FirewallUndoFailedEventData(TypedDict):
    firewall: EventFirewall
    rulesVersion: str
    """Of the rules that are still in force"""
    reason: str
    """The code of the error, as in errors of the API"""
    nextTryAt: str
    """ISO 8601, UTC"""


class FirewallUndoFailedEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["firewall.undo_failed"]
    timestamp: str
    """ISO 8601, UTC"""
    data: FirewallUndoFailedEventData


class Webhook(TypedDict):
    id: str
    url: str
    events: list[str]
    isActive: bool
    """False after a 410, after 10 failures in a row with no success for 5 days, or when switched off"""
    description: str
    labels: dict[str, str]
    labelSelector: str | None
    """Only events of resources with such labels are sent; null: all"""
    failCount: int
    """Attempts that have failed in a row"""
    disabledReason: str | None
    """Why isActive became false by itself"""
    lastSuccessAt: str | None
    """ISO 8601, UTC"""
    createdAt: str
    """ISO 8601, UTC"""
    updatedAt: str
    """ISO 8601, UTC"""


class WebhookDisabledEventData(TypedDict):
    webhook: Webhook
    reason: str | None


class WebhookDisabledEvent(TypedDict):
    id: str
    cursor: str
    """The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`"""
    type: Literal["webhook.disabled"]
    timestamp: str
    """ISO 8601, UTC"""
    data: WebhookDisabledEventData


class Wallet(TypedDict):
    balance: str
    """Decimal with two places, for example "12.00"; debits are negative"""
    currency: str
    """ISO 4217, for example USD"""
    dueNext7Days: str
    """What renewals will charge within 7 days: decimal with two places"""
    daysLeft: int | None
    """Whole days the balance lasts at the present monthly cost; null when nothing renews"""


class TransactionDetail(TypedDict):
    id: str
    type: Literal[
        "DEPOSIT",
        "CREDIT",
        "VM_CHARGE",
        "VM_RENEWAL",
        "VM_UPGRADE",
        "VM_REFUND",
        "BANDWIDTH_PACK",
        "ADDON_CHARGE",
        "ADJUSTMENT",
        "ADDRESS_CHARGE",
        "ADDRESS_RENEWAL",
        "ADDRESS_REFUND",
        "IMAGE_CHARGE",
        "IMAGE_RENEWAL",
        "IMAGE_REFUND",
        "VOLUME_CHARGE",
        "VOLUME_UPGRADE",
        "VOLUME_RENEWAL",
        "VOLUME_REFUND",
        "VM_UNSHELVE",
    ]
    description: str
    referenceType: Literal["VM", "PAYMENT", "ADMIN", "ADDRESS", "IMAGE", "VOLUME"]
    referenceId: str
    """The id of what the money was for or came from"""
    createdAt: str
    """ISO 8601, UTC"""
    amount: str
    """Decimal with two places, for example "12.00"; debits are negative"""
    balanceAfter: str | None
    """Decimal with two places; null in a project, whose members do not see the wallet of the account that pays"""
    project: TransactionDetailProject | None
    balanceBefore: str | None
    """Decimal with two places; null in a project, whose members do not see the wallet of the account that pays"""
    resource: TransactionDetailResource | None
    action: TransactionDetailAction | None
    priceParts: list[TransactionDetailPriceParts]
    """What the price of a month of a VM was made of, together the amount; empty where that is not known"""


class TransactionDetailProject(TypedDict):
    """What it was paid for; null = for the account itself"""
    id: str
    name: str
    """As it was called then"""


class TransactionDetailResource(TypedDict):
    """What it was for; null of a payment, and of what was deleted before names were kept"""
    id: str
    name: str
    """Its present name, or its last"""
    labels: dict[str, str]
    deleted: bool


class TransactionDetailAction(TypedDict):
    """The action of the resource that was under way then; null where there was none, or it is no longer kept"""
    id: str
    action: str
    status: str
    createdAt: str
    """ISO 8601, UTC"""


class TransactionDetailPriceParts(TypedDict):
    part: Literal["PLAN", "WITHOUT_IPV4", "DAILY_BACKUP", "NETWORK_10G", "COPIES"]
    amount: str
    """Decimal with two places, for example "12.00"; debits are negative"""


class Costs(TypedDict):
    """Of the ledger: the amounts of all groups together are the amount, to the cent"""
    month: str
    currency: str
    charged: str
    """What was charged: decimal with two places"""
    refunded: str
    """What was given back of it: decimal with two places"""
    amount: str
    """The difference: decimal with two places"""
    entries: int
    """How many transactions"""
    groups: list[CostsGroups]
    """The largest amount first; at most 1,000"""
    furtherGroups: CostsFurtherGroups | None


class CostsGroups(TypedDict):
    key: str | None
    """The id, type or value; null: without the label, or, of projects, the account itself"""
    name: str | None
    """Of a resource or project"""
    resourceType: str | None
    """VM, VOLUME, IMAGE or ADDRESS"""
    deleted: bool | None
    """Of a resource: it is no longer there"""
    charged: str
    """What was charged: decimal with two places"""
    refunded: str
    """What was given back of it: decimal with two places"""
    amount: str
    """The difference: decimal with two places"""
    entries: int
    """How many transactions"""


class CostsFurtherGroups(TypedDict):
    """All beyond the first 1,000 together"""
    count: int
    charged: str
    """What was charged: decimal with two places"""
    refunded: str
    """What was given back of it: decimal with two places"""
    amount: str
    """The difference: decimal with two places"""
    entries: int
    """How many transactions"""


class WalletTimeline(TypedDict):
    """The upcoming days are what they are if nothing is bought, deleted or deposited"""
    currency: str
    balance: str
    """Decimal with two places, for example "12.00"; debits are negative"""
    monthly: str
    """What all that renews costs a month: decimal with two places"""
    past: list[WalletTimelinePast]
    """Each day, the oldest first"""
    upcoming: list[WalletTimelineUpcoming]
    """Each day from today on"""


class WalletTimelinePast(TypedDict):
    date: str
    """Such as 2027-01-31, of UTC"""
    balance: str
    """At the end of the day; of the last one, today, as it is now"""


class WalletTimelineUpcoming(TypedDict):
    date: str
    """Such as 2027-01-31, of UTC"""
    charge: str
    """What renews on this day"""
    balance: str
    """What would be left after it, below zero where it is not covered"""


class Deposit(TypedDict):
    id: str
    status: Literal["PENDING", "PROCESSING", "SUCCEEDED", "FAILED", "EXPIRED"]
    """PROCESSING: paid by a method that takes days. SUCCEEDED: in the wallet. EXPIRED: not paid for 14 days; credited if it is paid
    later"""
    amount: str
    """Decimal with two places, for example "12.00"; debits are negative"""
    currency: str
    provider: Literal["manual", "stripe"]
    checkoutUrl: str | None
    """The page to pay at, while it is PENDING"""
    instructions: str | None
    """How to pay where there is no page"""
    refunded: str
    """What was refunded or charged back since: decimal with two places"""
    transactionId: str | None
    """The entry of the ledger, once it is in the wallet"""
    createdAt: str
    """ISO 8601, UTC"""
    updatedAt: str
    """ISO 8601, UTC"""


class CreateDeposit(TypedDict):
    amount: str
    """From 1.00 to 50000.00, as a decimal string"""


class InvoiceSummary(TypedDict):
    id: str
    number: str
    """Without gaps over all invoices, for example INV-000042"""
    month: str
    """For example 2027-01"""
    currency: str
    openingBalance: str
    """Decimal with two places, for example "12.00"; debits are negative"""
    charged: str
    """What was bought, less what was given back for it: decimal with two places"""
    paid: str
    """What came into the wallet, less what was taken back: decimal with two places"""
    closingBalance: str
    """Decimal with two places, for example "12.00"; debits are negative"""
    issuedAt: str
    """ISO 8601, UTC"""


class Invoice(TypedDict):
    id: str
    number: str
    """Without gaps over all invoices, for example INV-000042"""
    month: str
    """For example 2027-01"""
    currency: str
    openingBalance: str
    """Decimal with two places, for example "12.00"; debits are negative"""
    charged: str
    """What was bought, less what was given back for it: decimal with two places"""
    paid: str
    """What came into the wallet, less what was taken back: decimal with two places"""
    closingBalance: str
    """Decimal with two places, for example "12.00"; debits are negative"""
    issuedAt: str
    """ISO 8601, UTC"""
    seller: InvoiceSeller
    customer: InvoiceCustomer
    lines: list[Transaction]
    """The entries of the ledger, oldest first; at most 1,000"""
    furtherLines: InvoiceFurtherLines | None
    pageUrl: str
    """A page to print, for whoever has this link, for an hour"""


class InvoiceSeller(TypedDict):
    name: str
    address: list[str]
    tax: str


class InvoiceCustomer(TypedDict):
    name: str
    email: str


class InvoiceFurtherLines(TypedDict):
    """How many entries follow beyond the first 1,000, and their sum: GET /wallet/transactions has each. Null where none do"""
    count: int
    amount: str
    """Decimal with two places, for example "12.00"; debits are negative"""


FieldChange = TypedDict(
    "FieldChange",
    {
        "field": "str",
        "from": "str | None",
        "to": "str | None",
    },
)


class AuditEntry(TypedDict):
    id: str
    action: str
    """The operationId of the call, followed by the name of an identity provider where one was asked, the words of an operator's command, or
    "refusals" for those that were only counted"""
    actor: AuditEntryActor
    ip: str | None
    """Where the call came from"""
    method: str | None
    route: str | None
    """For example /vms/{id}/restart"""
    resourceId: str | None
    """What it was done to, or what was made"""
    resourceIds: list[str]
    """All ids of the path in its order, and then of what was made"""
    resourceName: str | None
    """What it was called then. Only for what the caller may read; null where the call did not tell"""
    changes: list[FieldChange] | None
    result: Literal["succeeded", "refused"]
    status: int | None
    """The HTTP status; null where there was no call of the API"""
    errorCode: str | None
    """As in the header X-Error-Code"""
    requestId: str | None
    """As in the header X-Request-Id"""
    count: int
    """More than 1 where changes or refusals came so often that they were only counted"""
    createdAt: str
    """ISO 8601, UTC"""


class AuditEntryActor(TypedDict):
    type: Literal["token", "person", "operator", "system"]
    id: str | None
    """Of the token or the person; null for others"""
    name: str
    """Of the token, at that time, or the e-mail address of the person"""
    via: Literal["session", "token"] | None
    person: AuditEntryActorPerson | None


class AuditEntryActorPerson(TypedDict):
    id: str
    """As in `GET /members`"""
    name: str
    """The e-mail address at that time"""


class Token(TypedDict):
    id: str
    name: str
    prefix: str
    """The first characters of the secret, to recognise it by"""
    scopes: list[str]
    isActive: bool
    """Neither revoked nor expired"""
    expiresAt: str | None
    """ISO 8601, UTC"""
    revokedAt: str | None
    """ISO 8601, UTC"""
    allowedIps: list[str]
    """Empty = from everywhere"""
    requestsPerMinute: int
    """Its rate limit"""
    parentId: str | None
    """The token that it was made with, within which it stays and with which it is revoked; null where none was"""
    createdAt: str
    """ISO 8601, UTC"""
    lastUsedAt: str | None
    """ISO 8601, UTC"""
    lastUsedIp: str | None
    budget: Budget | None


class NewToken(TypedDict):
    id: str
    name: str
    prefix: str
    """The first characters of the secret, to recognise it by"""
    scopes: list[str]
    isActive: bool
    """Neither revoked nor expired"""
    expiresAt: str | None
    """ISO 8601, UTC"""
    revokedAt: str | None
    """ISO 8601, UTC"""
    allowedIps: list[str]
    """Empty = from everywhere"""
    requestsPerMinute: int
    """Its rate limit"""
    parentId: str | None
    """The token that it was made with, within which it stays and with which it is revoked; null where none was"""
    createdAt: str
    """ISO 8601, UTC"""
    lastUsedAt: str | None
    """ISO 8601, UTC"""
    lastUsedIp: str | None
    budget: Budget | None
    secret: str
    """The token itself: shown this once"""


class RevokedToken(TypedDict):
    id: str
    alsoRevoked: list[str]
    """The ids of what was made with it, and is gone with it"""


class Node(TypedDict):
    id: str
    name: str
    available: bool


class SshKey(TypedDict):
    id: str
    name: str
    labels: dict[str, str]
    type: str
    """As in the key, for example ssh-ed25519"""
    fingerprint: str
    """SHA256:… as ssh-keygen -l shows it"""
    publicKey: str
    """The type and the key, without a comment"""
    vmCount: int
    """How many VMs the key was installed on"""
    createdAt: str
    """ISO 8601, UTC"""


class PlacementGroup(TypedDict):
    id: str
    name: str
    labels: dict[str, str]
    policy: Literal["SPREAD", "STRICT_SPREAD", "TOGETHER"]
    vms: list[PlacementGroupVms]
    hostCount: int
    """On how many hosts its VMs are"""
    createdAt: str
    """ISO 8601, UTC"""


class PlacementGroupVms(TypedDict):
    id: str
    name: str


class CreatePlacementGroup(TypedDict):
    name: str
    """must be 1-100 characters on one line, without control characters"""
    policy: Literal["SPREAD", "STRICT_SPREAD", "TOGETHER"]
    """SPREAD: on different hosts as far as there is room. STRICT_SPREAD: never two on one host. TOGETHER: on the same host as far as there
    is room"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""


class Network(TypedDict):
    id: str
    name: str
    labels: dict[str, str]
    cidr: str
    gateway: str | None
    """Null only with SNAT and DHCP both off"""
    enableSnat: bool
    enableDhcp: bool
    region: NetworkRegion
    attachmentCount: int
    """How many VMs are attached"""
    createdAt: str
    """ISO 8601, UTC"""
    updatedAt: str
    """ISO 8601, UTC"""


class NetworkRegion(TypedDict):
    name: str
    country: str
    flag: str


class CreateNetwork(TypedDict):
    name: str
    """must be 1-100 characters on one line, without control characters"""
    nodeId: str
    """A region's id, or the id of one of its hosts: the network spans all hosts of the region"""
    cidr: str
    """A private range from /8 to /30; host bits are masked away"""
    gateway: NotRequired[str | None]
    """must be an IPv4 address such as 10.0.0.1, or null"""
    enableSnat: NotRequired[bool]
    """VMs reach the internet through the gateway"""
    enableDhcp: NotRequired[bool]
    """VMs are told their addresses by DHCP"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""


class RenameNetwork(TypedDict):
    """At least one of them"""
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""


class DeletedNetwork(TypedDict):
    id: str


class NetworkAttachment(TypedDict):
    vmId: str
    ipAddress: str
    """The VM's own address in the network"""


class NetworkRoute(TypedDict):
    id: str
    destination: str
    nextHop: str
    createdAt: str
    """ISO 8601, UTC"""


class CreateNetworkRoute(TypedDict):
    destination: str
    """A range outside of the network; host bits are masked away"""
    nextHop: str
    """An address in the network: of the VM that takes on what is sent to the range"""


class NetworkPeering(TypedDict):
    id: str
    """The same for both networks"""
    networkId: str
    """Of the other network"""
    name: str
    """Of the other network"""
    cidr: str
    """Of the other network"""
    createdAt: str
    """ISO 8601, UTC"""


class CreateNetworkPeering(TypedDict):
    networkId: str
    """Another network of the account in the same region"""


class Firewall(TypedDict):
    id: str
    name: str
    labels: dict[str, str]
    description: str
    defaultInbound: str
    """What happens to packets to a VM that no rule matches"""
    defaultOutbound: str
    """What happens to packets from a VM that no rule matches"""
    coversPrivate: bool
    """Whether its rules also filter the private interfaces of the VMs that it is bound to"""
    ruleCount: int
    bindingCount: int
    """How many VMs it is bound to"""
    applied: bool
    """Whether the hosts of all these VMs have its latest rules"""
    pendingCount: int
    """For how many of these VMs older rules are in force until their hosts have the latest: a confirmation before says nothing about
    them"""
    rulesVersion: str
    """Of its rules in their order: another one when any of them was changed, added, moved or deleted"""
    undoUntil: str | None
    """Until then the latest change of its rules can be undone; null when there is none"""
    confirmBy: str | None
    """Its rules are undone by themselves then, unless they are confirmed"""
    createdAt: str
    """ISO 8601, UTC"""
    updatedAt: str
    """ISO 8601, UTC"""


class CreateFirewall(TypedDict):
    name: str
    """must be 1-100 characters on one line, without control characters"""
    description: NotRequired[str]
    """must be 0-500 characters, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""
    coversPrivate: NotRequired[bool]
    """Whether its rules also filter the private interfaces of the VMs that it is bound to"""


class ChangeFirewall(TypedDict):
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    description: NotRequired[str]
    """must be 0-500 characters, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""
    coversPrivate: NotRequired[bool]
    """Whether its rules also filter the private interfaces of the VMs that it is bound to"""


class FirewallRule(TypedDict):
    id: str
    firewallId: str
    position: int
    """From 1; the first rule that matches decides"""
    direction: str
    """IN or OUT"""
    action: str
    """ACCEPT, DROP or REJECT"""
    protocol: str
    """TCP, UDP, ICMP, ICMPV6 or ANY"""
    port: str
    """"any", or destination ports such as "22", "80,443" or "8000-9000"."""
    sourceIps: list[str]
    """Empty = any"""
    destIps: list[str]
    """Empty = any"""
    description: str
    createdAt: str
    """ISO 8601, UTC"""
    updatedAt: str
    """ISO 8601, UTC"""


class AddRule(TypedDict):
    direction: Literal["IN", "OUT"]
    action: Literal["ACCEPT", "DROP", "REJECT"]
    protocol: Literal["TCP", "UDP", "ICMP", "ICMPV6", "ANY"]
    port: NotRequired[str | None]
    """Destination ports of TCP or UDP: "22", "80,443" or "8000-9000"; null, absent or "any" = all"""
    sourceIps: NotRequired[list[str]]
    """Addresses and ranges of IPv4 and IPv6; empty = any"""
    destIps: NotRequired[list[str]]
    """Addresses and ranges of IPv4 and IPv6; empty = any"""
    description: NotRequired[str]
    """must be 0-200 characters, without control characters"""
    position: NotRequired[int]
    """Where to insert it; at the end when absent"""


class RuleInput(TypedDict):
    direction: Literal["IN", "OUT"]
    action: Literal["ACCEPT", "DROP", "REJECT"]
    protocol: Literal["TCP", "UDP", "ICMP", "ICMPV6", "ANY"]
    port: NotRequired[str | None]
    """Destination ports of TCP or UDP: "22", "80,443" or "8000-9000"; null, absent or "any" = all"""
    sourceIps: NotRequired[list[str]]
    """Addresses and ranges of IPv4 and IPv6; empty = any"""
    destIps: NotRequired[list[str]]
    """Addresses and ranges of IPv4 and IPv6; empty = any"""
    description: NotRequired[str]
    """must be 0-200 characters, without control characters"""


class ReplaceRules(TypedDict):
    rules: list[RuleInput]
    """In the order they are to be asked"""
    basedOn: NotRequired[str]
    """The `rulesVersion` that these replace: refused with `version_conflict` when it is another"""
    confirmWithinSeconds: NotRequired[int]
    """Undo them by themselves unless they are confirmed by then: for changes that may lock their author out"""


class FirewallUndo(TypedDict):
    rules: list[FirewallRule]
    """As they would be, in their order"""
    rulesVersion: str
    """Of the rules that it undoes, for `basedOn`"""
    restoresVersion: str
    """Of the rules that return"""
    undoUntil: str
    """ISO 8601, UTC"""
    confirmBy: str | None
    """It happens by itself then, unless the rules are confirmed"""


class UndoRules(TypedDict):
    basedOn: NotRequired[str]
    """The `rulesVersion` that is to be undone: refused with `version_conflict` when it is another"""
    restoresVersion: NotRequired[str]
    """Of the rules that are to return, from `GET /firewalls/{id}/undo`: refused with `version_conflict` when others would"""


class ConfirmRules(TypedDict):
    basedOn: NotRequired[str]
    """The `rulesVersion` that is to be kept: refused with `version_conflict` when it is another"""


class ChangeRule(TypedDict):
    direction: NotRequired[Literal["IN", "OUT"]]
    action: NotRequired[Literal["ACCEPT", "DROP", "REJECT"]]
    protocol: NotRequired[Literal["TCP", "UDP", "ICMP", "ICMPV6", "ANY"]]
    port: NotRequired[str | None]
    """Destination ports of TCP or UDP: "22", "80,443" or "8000-9000"; null, absent or "any" = all"""
    sourceIps: NotRequired[list[str]]
    """Addresses and ranges of IPv4 and IPv6; empty = any"""
    destIps: NotRequired[list[str]]
    """Addresses and ranges of IPv4 and IPv6; empty = any"""
    description: NotRequired[str]
    """must be 0-200 characters, without control characters"""
    position: NotRequired[int]
    """Moves it there; the others keep their order"""


class FirewallBindingState(TypedDict):
    firewallId: str
    vmId: str
    applied: bool
    """Whether the VM's host has the latest rules"""
    state: Literal["APPLIED", "PENDING", "FAILED"]
    appliedAt: str | None
    """ISO 8601, UTC"""
    error: str | None
    """Why the host does not have them yet; it is tried again"""
    nextTryAt: str | None
    """When it is tried again after a failure"""


class Availability(TypedDict):
    """Whether a VM of this plan would be placed in this region now, with a public IPv4 address and without add-ons. A few seconds old.
    Quotas and money are not looked at"""
    region: AvailabilityRegion
    plan: AvailabilityPlan
    architecture: str
    """Of the OS template: x86_64 or aarch64"""
    available: bool
    code: Literal["region_closed", "plan_not_offered", "architecture_not_offered", "never", "full", "no_address"] | None
    reason: str | None
    """The same as a sentence"""


class AvailabilityRegion(TypedDict):
    id: str
    slug: str


class AvailabilityPlan(TypedDict):
    id: str
    slug: str


class BackupPolicy(TypedDict):
    """Of daily backups, where they are switched on"""
    hour: int | None
    """UTC, in which daily backups begin; null: a time of its own between 22:00 and 06:00"""
    keepDaily: int
    """The newest daily backups"""
    keepWeekly: int
    """The newest of each of so many weeks, from Monday to Sunday"""
    keepMonthly: int
    """The newest of each of so many months"""


class Rescue(TypedDict):
    """Of a VM that runs a rescue system; its own disk is attached beside that"""
    since: str
    """ISO 8601, UTC"""
    endsAt: str
    """When it ends by itself"""
    user: str
    """Whom to log in as"""


class AttachedIso(TypedDict):
    """In the CD drive of a VM, which starts from it first"""
    imageId: str
    name: str
    """Of the image"""
    since: str
    """ISO 8601, UTC"""
    active: bool
    """Whether its machine has it in the drive: false until it is started, or restarted, for the first time since, and in rescue"""


class Vm(TypedDict):
    id: str
    name: str
    hostname: str
    status: Literal["PROVISIONING", "RUNNING", "STOPPED", "SUSPENDED", "REBUILDING", "UPGRADING", "UNMANAGED", "ERROR"]
    vcpu: int
    ram: int
    """MiB"""
    disk: int
    """GiB"""
    storage: Literal["LOCAL", "REPLICATED"]
    """Where the disk is: LOCAL on the host of the VM, REPLICATED in several copies apart from it"""
    dedicatedCpu: bool
    """Each vCPU is a CPU of the host that no other VM has"""
    bandwidth: int
    """GB (10^9 bytes) per billing month; 0 = unmetered"""
    networkSpeed: int
    """Mbit/s"""
    network10gEnabled: bool
    dailyBackupEnabled: bool
    isProtected: bool
    publicIpv4: bool
    """Whether it has, or is to have, a public IPv4 address"""
    ipAddress: str | None
    """The public IPv4 address; null while none is assigned, and without publicIpv4"""
    ipv6Address: str | None
    """Null where the region has no IPv6, and until the next rebuild of a VM from before"""
    ipv6Prefix: str | None
    """The /64 of its own, with ipv6Address in it; null where it has that address alone"""
    region: VmRegion
    plan: VmPlan
    osTemplate: VmOsTemplate
    billing: VmBilling
    createdAt: str
    """ISO 8601, UTC"""
    labels: dict[str, str]
    shelvedAt: str | None
    """Since when it is shelved: on no host, STOPPED, and paid for its disk and addresses only"""
    hostUnreachableSince: str | None
    """Since when its host does not answer: `status` is what was known then. Null: it answers"""
    networkLimited: bool
    """Whether it is held to networkSpeed, and to the throttle at its traffic cap: always true"""
    reverseName: str | None
    """What reverse DNS (PTR) says of the address, or is about to"""
    reverseNameState: Literal["PENDING", "SET", "FAILED"] | None
    reverseNameReason: str | None
    """Why the name server does not have it yet"""
    ipv6ReverseName: str | None
    """What reverse DNS (PTR) says of ipv6Address, or is about to"""
    ipv6ReverseNameState: Literal["PENDING", "SET", "FAILED"] | None
    ipv6ReverseNameReason: str | None
    """Why the name server does not have it yet"""
    backupPolicy: BackupPolicy
    nextBackupAt: str | None
    """When its next daily backup is due; null without daily backups, and until one is scheduled"""
    copiesPriceMonthly: str
    """The part of billing.priceMonthly that its snapshots, on-demand backups and daily backups beyond seven cost"""
    bandwidthUsedBytes: int
    bandwidthPackBytes: str
    """Bytes as a decimal string"""
    sshKeys: list[VmSshKeys]
    firewalls: list[VmFirewalls]
    placementGroup: VmPlacementGroup | None
    privateNetworks: list[VmPrivateNetworks]
    updatedAt: str
    """ISO 8601, UTC"""
    currentAction: VmCurrentAction | None
    allowedActions: list[str]
    """What the API would accept now"""
    readiness: Literal["booting", "reachable"]
    statusReason: str | None
    initialization: Initialization | None
    rescue: Rescue | None
    iso: AttachedIso | None


class VmRegion(TypedDict):
    slug: str
    name: str


class VmPlan(TypedDict):
    slug: str
    name: str
    priceMonthly: str
    """Decimal with two places, for example "12.00"; debits are negative"""


class VmOsTemplate(TypedDict):
    slug: str
    name: str
    version: str
    arch: str


class VmBilling(TypedDict):
    nextRenewalAt: str
    """Nothing is charged then while status is CANCELLED (it failed to provision), and of an UNMANAGED VM"""
    status: Literal["ACTIVE", "PAST_DUE", "SUSPENDED", "CANCELLED"]
    priceMonthly: str
    """What the next renewal will charge, add-ons included"""


class VmSshKeys(TypedDict):
    id: str
    name: str
    fingerprint: str


class VmFirewalls(TypedDict):
    id: str
    name: str


class VmPlacementGroup(TypedDict):
    id: str
    name: str


class VmPrivateNetworks(TypedDict):
    id: str
    name: str
    ipAddress: str
    """The VM's own address in it"""


class VmCurrentAction(TypedDict):
    id: str
    action: str
    status: str
    progress: int


class VmCreated(TypedDict):
    vm: Vm
    actionId: str
    vms: NotRequired[list[Vm]]
    """Only with count: all of them, in the order of their numbers"""
    actionIds: NotRequired[list[str]]
    """Only with count: of each in the order of vms"""
    alternative: NotRequired[int | None]
    """Only with alternatives: the index of the one that is placed; null: the request itself"""


class CreateQuote(TypedDict):
    """Of all VMs of a count, and of their new volumes"""
    charge: str
    """What would be taken from the wallet now, for example "12.00"; negative: given back"""
    monthly: str
    """What the VM would cost a month from then on"""
    currency: str
    balanceAfter: str | None
    """Decimal with two places; null in a project, whose members do not see the wallet of the account that pays"""
    volumesMonthly: NotRequired[str]
    """Only with volumes: what new ones are of `charge` and `monthly`"""
    alternative: NotRequired[int | None]
    """Only with alternatives: the index of the one that is placed; null: the request itself"""


class CustomConfig(TypedDict):
    vcpu: int
    ram: int
    """must be 512-262144 MiB in steps of 256"""
    disk: int
    """must be 5-4096 GiB"""
    bandwidth: NotRequired[int]
    """GB (10^9 bytes) per billing month, where the catalog has a price for it; what is included when absent"""
    networkSpeed: NotRequired[int]
    """Mbit/s, where the catalog has a price for it; what is included when absent"""


class VmVolume(TypedDict):
    """A new volume needs the scope volumes:create"""
    volumeId: NotRequired[str]
    """A detached volume of the account: then nothing else is given. The VM is placed on the host of one on LOCAL storage. Needs the scope
    volumes:update, and goes with no count above 1"""
    name: NotRequired[str]
    """Of a new volume: required, with sizeGiB. With a count {n} stands for the number of the VM, as in name of the VM"""
    sizeGiB: NotRequired[int]
    """must be 1-16384 GiB"""
    storage: NotRequired[Literal["LOCAL", "REPLICATED"]]
    """Of a new volume; left out: REPLICATED where the region has it"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""
    isProtected: NotRequired[bool]
    """Of a new volume: it cannot be deleted until this is false again"""


class VmAlternative(TypedDict):
    """At least one of them. What is left out is as in the request"""
    regionId: NotRequired[str]
    """must be an id: c and at least 8 more characters"""
    planId: NotRequired[str]
    """must be an id: c and at least 8 more characters"""
    customConfig: NotRequired[CustomConfig]


class CreateVm(TypedDict):
    regionId: str
    """must be an id: c and at least 8 more characters"""
    osTemplateId: NotRequired[str]
    """Required without fromBackupId"""
    fromBackupId: NotRequired[str]
    """Instead of osTemplateId: the VM begins with the disk of this backup of any VM of the account, as a guest of its own. The plan needs a
    disk as large, the token the scope backups:restore"""
    hostname: str
    """Letters, digits and hyphens; with count also {n}, which stands for the number of the VM, such as web-{n}"""
    planId: NotRequired[str]
    """must be an id: c and at least 8 more characters"""
    customConfig: NotRequired[CustomConfig]
    password: NotRequired[str]
    sshKeyIds: NotRequired[list[str]]
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    dailyBackupEnabled: NotRequired[bool]
    network10gEnabled: NotRequired[bool]
    isProtected: NotRequired[bool]
    firewallIds: NotRequired[list[str]]
    privateNetworkIds: NotRequired[list[str]]
    placementGroupId: NotRequired[str]
    """must be an id: c and at least 8 more characters"""
    userData: NotRequired[str]
    """What cloud-init does at the first boot: a script (#!), cloud configuration (#cloud-config), a MIME multipart message of such parts,
    or either as gzip in base64. At most 64 KiB when decoded. It can never be read back"""
    volumes: NotRequired[list[VmVolume]]
    """The VM has them from its first start. New ones are charged with the VM, and deleted and refunded where it cannot be built"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""
    publicIpv4: NotRequired[bool]
    """False: IPv6 alone, where the region has it, for ipv4PriceMonthly of the plan less"""
    count: NotRequired[int]
    """So many VMs that are alike, all or none. In hostname and name {n} stands for the number of each, from 1; without {n} a hyphen and the
    number are appended where there are several"""
    alternatives: NotRequired[list[VmAlternative]]
    """What to try, in this order, where the request itself cannot be had now (no_capacity, unavailable). What is placed is charged; all VMs
    of a count are placed alike. Any other refusal, such as too little money for it, ends the request"""


class Quote(TypedDict):
    charge: str
    """What would be taken from the wallet now, for example "12.00"; negative: given back"""
    monthly: str
    """What the VM would cost a month from then on"""
    currency: str
    balanceAfter: str | None
    """Decimal with two places; null in a project, whose members do not see the wallet of the account that pays"""


class BackupPolicyChange(TypedDict):
    """What is not given stays. It holds from the next daily backup on. Backups beyond the seven newest cost as much as those on demand,
    from the next renewal on. keepWeekly and keepMonthly need a region with a backup target"""
    hour: NotRequired[int | None]
    """UTC, in which daily backups begin; null: a time of its own between 22:00 and 06:00"""
    keepDaily: NotRequired[int]
    """The newest daily backups"""
    keepWeekly: NotRequired[int]
    """The newest of each of so many weeks, from Monday to Sunday"""
    keepMonthly: NotRequired[int]
    """The newest of each of so many months"""


class UpdateVm(TypedDict):
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    isProtected: NotRequired[bool]
    dailyBackupEnabled: NotRequired[bool]
    network10gEnabled: NotRequired[bool]
    backupPolicy: NotRequired[BackupPolicyChange]
    placementGroupId: NotRequired[str | None]
    """The VM stays on its host; null takes it out of its group"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""
    reverseName: NotRequired[str | None]
    """What reverse DNS (PTR) says of the address; null: nothing"""
    ipv6ReverseName: NotRequired[str | None]
    """What reverse DNS (PTR) says of the address; null: nothing"""


class ActionStarted(TypedDict):
    actionId: str


class ResizeQuote(TypedDict):
    charge: str
    """What would be taken from the wallet now, for example "12.00"; negative: given back"""
    monthly: str
    """What the VM would cost a month from then on"""
    currency: str
    balanceAfter: str | None
    """Decimal with two places; null in a project, whose members do not see the wallet of the account that pays"""
    restarts: bool
    """Whether the running VM is shut down and started again, once. One that has room for its larger size gets it while it runs"""


class UpgradeVm(TypedDict):
    """Either a plan or a custom configuration"""
    planId: NotRequired[str]
    """must be an id: c and at least 8 more characters"""
    customConfig: NotRequired[CustomConfig]


class ResizeVm(TypedDict):
    """A plan, a custom configuration, or a larger disk. A disk never shrinks"""
    planId: NotRequired[str]
    """must be an id: c and at least 8 more characters"""
    customConfig: NotRequired[CustomConfig]
    disk: NotRequired[int]
    """GiB. Alone: the disk grows, and everything else stays. With planId: a plan with a larger disk than its own. Either makes a custom
    configuration, which costs as much as before, or as the plan, and the additional disk"""


class RebuildVm(TypedDict):
    osTemplateId: str
    """must be an id: c and at least 8 more characters"""
    password: NotRequired[str]
    sshKeyIds: NotRequired[list[str]]
    userData: NotRequired[str | None]
    """As in createVm; by default what the VM was made with, and null for none"""


class RescueVm(TypedDict):
    sshKeyIds: NotRequired[list[str]]
    """Who can log in to the rescue system; by default the keys that the VM was made with"""
    password: NotRequired[str]
    """Of the rescue system alone. Without keys it is required"""


class AttachIso(TypedDict):
    imageId: str
    """An image of kind ISO; the token needs the scope images:read"""
    restart: NotRequired[bool]
    """Restart a running VM, so that it starts from it now; false when absent: at its next start or restart"""


class SetPassword(TypedDict):
    password: str


class ReachStep(TypedDict):
    step: Literal["SENDER", "OUTBOUND_FILTER", "ROUTE", "CLOSED_RANGE", "DESTINATION", "INBOUND_FILTER", "RECEIVER"]
    passes: bool
    """False only for the last step"""
    action: str | None
    """Of a filter: ACCEPT, DROP or REJECT"""
    firewallId: str | None
    """The firewall of the rule"""
    rule: FirewallRule | None
    detail: str
    """What decides here, in a sentence"""
    remedy: str | None
    """What to do where it does not pass, or, of a ROUTE, for guests to know the way"""
    missingPeering: list[ReachStepMissingPeering] | None


class ReachStepMissingPeering(TypedDict):
    id: str
    name: str


class Reach(TypedDict):
    verdict: Literal["REACHABLE", "FORWARDED", "BLOCKED"]
    """FORWARDED: it is handed to a gateway or router, or to an address that is no VM of the account; what happens there is not known"""
    source: ReachSource
    destination: ReachDestination
    applied: bool
    """Whether the hosts of both VMs have their latest rules"""
    steps: list[ReachStep]
    """In the order of the packet"""


class ReachSource(TypedDict):
    vmId: str
    networkId: str | None
    """Of the private interface that sends; null for the public one"""
    address: str | None


class ReachDestination(TypedDict):
    vmId: str | None
    """Null for an address that no VM of the account has"""
    address: str | None


class CheckReach(TypedDict):
    to: str
    """An address, or the id of a VM: then the first of its addresses that is reached, in a network of both VMs before public ones"""
    protocol: Literal["TCP", "UDP", "ICMP", "ICMPV6"]
    port: NotRequired[int | None]
    """Destination port of TCP or UDP"""


class AttachNetwork(TypedDict):
    networkId: str
    """must be an id: c and at least 8 more characters"""


class Announcement(TypedDict):
    id: str
    level: Literal["INFO", "WARNING", "CRITICAL"]
    text: str
    """What the operator says: plain text"""
    regionId: str | None
    """It concerns who has something there; null: everybody"""
    startsAt: str
    """ISO 8601, UTC"""
    endsAt: str | None
    """null: until the operator withdraws it"""


class ConsoleLink(TypedDict):
    url: str
    """A WebSocket URL that opens the console once. It is a secret: whoever has it is at the console"""
    expiresAt: str
    """ISO 8601, UTC"""


class OpenConsole(TypedDict):
    """serial is text and there is one on every host; vnc is the screen, where the host offers it"""
    type: Literal["serial", "vnc"]


VmMetrics = TypedDict(
    "VmMetrics",
    {
        "from": "str",
        "to": "str",
        "step": "int",
        "timestamps": "list[str]",
        "series": "VmMetricsSeries",
        "maxima": "VmMetricsMaxima",
    },
)


class VmMetricsSeries(TypedDict):
    """Averages; null where nothing was measured"""
    cpuPercent: list[float | None]
    """Of all its vCPUs together: 0 to 100"""
    ramUsed: list[float | None]
    """MiB, as the guest tells; null when it does not"""
    diskReadBytesPerSecond: list[float | None]
    """Read from its disks"""
    diskWriteBytesPerSecond: list[float | None]
    """Written to its disks"""
    networkInBytesPerSecond: list[float | None]
    """Received on all interfaces"""
    networkOutBytesPerSecond: list[float | None]
    """Sent on all interfaces"""
    cpuStealPercent: list[float | None]
    """How much of the time its vCPUs were ready to run and waited for a CPU of the host: 0 to 100"""
    diskRequestsPerSecond: list[float | None]
    """Reads and writes of its disks"""
    diskWaitMs: list[float | None]
    """How long such a request took; null without one"""
    ramTotal: list[float | None]
    """MiB"""


class VmMetricsMaxima(TypedDict):
    """The highest minute of each point"""
    cpuPercent: list[float | None]
    """Of all its vCPUs together: 0 to 100"""
    ramUsed: list[float | None]
    """MiB, as the guest tells; null when it does not"""
    diskReadBytesPerSecond: list[float | None]
    """Read from its disks"""
    diskWriteBytesPerSecond: list[float | None]
    """Written to its disks"""
    networkInBytesPerSecond: list[float | None]
    """Received on all interfaces"""
    networkOutBytesPerSecond: list[float | None]
    """Sent on all interfaces"""
    cpuStealPercent: list[float | None]
    """How much of the time its vCPUs were ready to run and waited for a CPU of the host: 0 to 100"""
    diskRequestsPerSecond: list[float | None]
    """Reads and writes of its disks"""
    diskWaitMs: list[float | None]
    """How long such a request took; null without one"""


RecentVmMetrics = TypedDict(
    "RecentVmMetrics",
    {
        "from": "str",
        "to": "str",
        "step": "int",
        "vms": "list[RecentVmMetricsVms]",
    },
)


class RecentVmMetricsVms(TypedDict):
    vmId: str
    cpuPercent: list[float | None]
    """Of all its vCPUs together: 0 to 100. Null where nothing was measured"""
    networkBytesPerSecond: list[float | None]
    """Received and sent on all interfaces together"""


class SnapshotCreated(TypedDict):
    snapshot: Snapshot
    actionId: str


class CreateSnapshot(TypedDict):
    name: str
    """must be 1-100 characters on one line, without control characters"""
    description: NotRequired[str]
    """must be 0-500 characters, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""


class UpdateSnapshot(TypedDict):
    """At least one of them"""
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    description: NotRequired[str]
    """must be 0-500 characters, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""


class BulkActionStarted(TypedDict):
    vms: list[BulkActionStartedVms]
    """Each that was selected, by name"""
    started: int
    refused: int


class BulkActionStartedVms(TypedDict):
    vmId: str
    vmName: str
    """Empty where there is no such VM"""
    errorCode: str | None
    """Null where nothing stands against it"""
    error: str | None
    """Why this VM was refused; the others were not"""
    actionId: str | None
    """Null of a VM that was refused"""


class BulkActionQuote(TypedDict):
    vms: list[BulkActionQuoteVms]
    """Each that was selected, by name"""
    started: int
    """How many would be"""
    refused: int
    """How many would be"""
    charge: str
    """Of all together; negative: given back"""
    currency: str
    balanceAfter: str | None
    """Decimal with two places; null in a project, whose members do not see the wallet of the account that pays"""


class BulkActionQuoteVms(TypedDict):
    vmId: str
    vmName: str
    """Empty where there is no such VM"""
    errorCode: str | None
    """Null where nothing stands against it"""
    error: str | None
    """Why this VM was refused; the others were not"""
    charge: str | None
    """Of this VM; negative: given back. Null where it would be refused"""


class StartBulkAction(TypedDict):
    labelSelector: NotRequired[str]
    """The VMs, at most 100: as in the list of VMs, such as `env=test,!keep`. Either this or vmIds is required"""
    vmIds: NotRequired[list[str]]
    """The VMs by their ids instead of labelSelector. One that is not there is refused as the others that cannot"""
    action: Literal["START", "STOP", "RESTART", "DELETE", "SNAPSHOT"]
    """As for a single VM, with its scope: vms:power for START, STOP and RESTART, vms:delete for DELETE, snapshots:create for SNAPSHOT"""
    force: NotRequired[bool]
    """Of STOP and RESTART: cut them off at once instead of asking the guests first"""
    name: NotRequired[str]
    """Of the snapshots; required for SNAPSHOT"""


class BackupCreated(TypedDict):
    backup: Backup
    actionId: str


class CreateBackup(TypedDict):
    name: str
    """must be 1-100 characters on one line, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""


class UpdateBackup(TypedDict):
    """At least one of them"""
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""


class BackupScreenshot(TypedDict):
    takenAt: str
    """ISO 8601, UTC"""
    png: str
    """A PNG of at most 480 x 360 pixels, in base64"""


class RestoreBackup(TypedDict):
    withoutNetworks: NotRequired[bool]
    """Has no effect: a VM whose host is lost is restored on another one with its private networks. Older clients still send it"""


class BackupDeleted(TypedDict):
    message: str


class ImageCreated(TypedDict):
    image: Image
    actionId: str


class CreateImage(TypedDict):
    """Exactly one of vmId, snapshotId, backupId and url"""
    name: str
    """must be 1-100 characters on one line, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""
    vmId: NotRequired[str]
    """Make it from this VM as it is now; the token needs the scope vms:update"""
    snapshotId: NotRequired[str]
    """Make it from this snapshot; the token needs the scope snapshots:restore"""
    backupId: NotRequired[str]
    """Make it from this backup; the token needs the scope backups:restore"""
    url: NotRequired[str]
    """Import this file, by https from a public address: a qcow2 or raw disk, or an ISO image, as it is or compressed with gzip, zstd or
    xz"""
    checksum: NotRequired[str]
    """Of the file at the URL; required with it"""
    kind: NotRequired[Literal["DISK", "ISO"]]
    """Of the file at the URL; DISK when absent"""
    arch: NotRequired[Literal["x86_64", "aarch64"]]
    """Of the system on an imported disk; that of the hosts when absent"""
    defaultUser: NotRequired[str]
    """Of an imported disk: who gets SSH keys and password, by cloud-init; root when absent"""
    guestAgent: NotRequired[bool]
    """Of an imported disk: whether it runs the QEMU guest agent, which password resets need; false when absent"""


class UpdateImage(TypedDict):
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""
    isProtected: NotRequired[bool]


class FirewallBinding(TypedDict):
    firewallId: str
    vmId: str


class BindFirewall(TypedDict):
    vmId: str
    """must be an id: c and at least 8 more characters"""


class FirewallVerdict(TypedDict):
    action: str
    """ACCEPT, DROP or REJECT"""
    decidedBy: str
    """RULE, DEFAULT when no rule matches, or NO_FIREWALL when none filters the interface"""
    firewallId: str | None
    """The firewall of the rule; it may be another of the VM's firewalls"""
    rule: FirewallRule | None
    applied: bool
    """Whether the VM's host has the latest rules"""


class CheckPacket(TypedDict):
    vmId: str
    """must be an id: c and at least 8 more characters"""
    direction: Literal["IN", "OUT"]
    protocol: Literal["TCP", "UDP", "ICMP", "ICMPV6"]
    port: NotRequired[int | None]
    """Destination port of TCP or UDP"""
    address: str
    """The other end"""
    networkId: NotRequired[str | None]
    """Of the private interface that is meant; the public one when absent"""
    rules: NotRequired[list[RuleInput]]
    """Checks as if the firewall had these rules instead of its own"""


class BandwidthUsage(TypedDict):
    vmId: str
    vmName: str
    status: str
    """The VM's status"""
    nextRenewalAt: str
    """ISO 8601, UTC"""
    throttled: bool
    throttledAt: str | None
    """ISO 8601, UTC"""
    usedBytes: int
    """Both directions, since the billing month began"""
    packBytes: str
    """Bytes as a decimal string"""
    capBytes: str | None
    """Plan and packs in bytes, as a decimal string; null = unmetered"""


class BuyBandwidthPack(TypedDict):
    gigabytes: int
    """GB (10^9 bytes); they last until the next renewal"""


class ReserveAddress(TypedDict):
    regionId: str
    """The region whose VMs can have it"""
    name: NotRequired[str]
    """Left out, it is the address itself"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""


class UpdateAddress(TypedDict):
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""
    reverseName: NotRequired[str | None]
    """What reverse DNS (PTR) says of the address; null: nothing"""


class ReleasedAddress(TypedDict):
    id: str


class AddressMoving(TypedDict):
    vmId: str
    """The VM that gets it, or loses it: its actions show this one"""
    actionId: str


class AssignAddress(TypedDict):
    vmId: str
    """A VM of the same region"""
    expectedVmId: NotRequired[str | None]
    """The VM that has it now, null for none. If another has it, nothing changes and the answer is 409"""


class CreateVolume(TypedDict):
    name: str
    """must be 1-100 characters on one line, without control characters"""
    sizeGiB: int
    """must be 1-16384 GiB"""
    regionId: str
    """The region whose VMs can have it"""
    vmId: NotRequired[str]
    """A VM of the region that it is attached to at once"""
    snapshotId: NotRequired[str]
    """A snapshot of a volume, whose data the new one begins with. It lies where the snapshot is; it cannot be given with vmId, and needs
    the scope snapshots:restore"""
    storage: NotRequired[Literal["LOCAL", "REPLICATED"]]
    """REPLICATED: any VM of the region can have it. LOCAL: it lies on one host, that of vmId, and only VMs of this host can have it. Left
    out: REPLICATED where the region has it"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""
    isProtected: NotRequired[bool]
    """It cannot be deleted until this is false again"""


class UpdateVolume(TypedDict):
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""
    isProtected: NotRequired[bool]
    sizeGiB: NotRequired[int]
    """It can only grow. A running guest sees the new size at once, and grows its filesystem itself"""


class DeletedVolume(TypedDict):
    id: str


class VolumeChanging(TypedDict):
    vmId: str
    """The VM that gets it, or loses it: its actions show this one"""
    actionId: str


class AttachVolume(TypedDict):
    vmId: str
    """A VM of the same region; of a volume on LOCAL storage, of the same host"""


class VolumeSnapshotCreated(TypedDict):
    snapshot: VolumeSnapshot
    actionId: str


class Alert(TypedDict):
    id: str
    name: str
    metric: Literal[
        "cpuPercent",
        "ramPercent",
        "diskReadBytesPerSecond",
        "diskWriteBytesPerSecond",
        "networkInBytesPerSecond",
        "networkOutBytesPerSecond",
        "trafficPercent",
        "balanceDays",
    ]
    comparison: Literal["ABOVE", "BELOW"]
    threshold: float
    forMinutes: int | None
    vmIds: list[str] | None
    labelSelector: str | None
    labels: dict[str, str]
    firing: list[AlertFiring]
    """Where it is so now"""
    createdAt: str
    """ISO 8601, UTC"""
    updatedAt: str
    """ISO 8601, UTC"""


class AlertFiring(TypedDict):
    vmId: str | None
    """Null for the account"""
    vmName: str | None
    value: float
    """When it fired"""
    firedAt: str
    """ISO 8601, UTC"""


class CreateAlert(TypedDict):
    """Of VMs: of those in vmIds, or that labelSelector selects, or of all"""
    name: str
    """must be 1-100 characters on one line, without control characters"""
    metric: Literal[
        "cpuPercent",
        "ramPercent",
        "diskReadBytesPerSecond",
        "diskWriteBytesPerSecond",
        "networkInBytesPerSecond",
        "networkOutBytesPerSecond",
        "trafficPercent",
        "balanceDays",
    ]
    """Of VMs: `cpuPercent` of all their vCPUs, `ramPercent` where the guest tells it, the rates of disk and network, and `trafficPercent`
    of what is included this month. Of the account: `balanceDays` that the balance lasts"""
    comparison: Literal["ABOVE", "BELOW"]
    threshold: float
    """Percent, bytes per second, or days"""
    forMinutes: NotRequired[int]
    """How long it must be so; 5 unless given. Not for trafficPercent and balanceDays, which are so at once"""
    vmIds: NotRequired[list[str]]
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""


class WebhookWithSecret(TypedDict):
    id: str
    url: str
    events: list[str]
    isActive: bool
    """False after a 410, after 10 failures in a row with no success for 5 days, or when switched off"""
    description: str
    labels: dict[str, str]
    labelSelector: str | None
    """Only events of resources with such labels are sent; null: all"""
    failCount: int
    """Attempts that have failed in a row"""
    disabledReason: str | None
    """Why isActive became false by itself"""
    lastSuccessAt: str | None
    """ISO 8601, UTC"""
    createdAt: str
    """ISO 8601, UTC"""
    updatedAt: str
    """ISO 8601, UTC"""
    secret: str
    """whsec_…, shown this once: signatures are checked with it (Standard Webhooks)"""


class WebhookDelivery(TypedDict):
    id: str
    """The webhook-id header, the same on every attempt"""
    eventId: str | None
    """Null for a test"""
    type: str
    status: Literal["PENDING", "SUCCEEDED", "EXHAUSTED", "CANCELLED"]
    attempts: int
    """Of 8; a redelivery begins anew"""
    nextAttemptAt: str | None
    """ISO 8601, UTC"""
    responseStatus: int | None
    """Of the last attempt, as are error and latencyMs"""
    error: str | None
    latencyMs: int | None
    createdAt: str
    """ISO 8601, UTC"""
    completedAt: str | None
    """ISO 8601, UTC"""


class WebhookAttempt(TypedDict):
    attemptedAt: str
    """ISO 8601, UTC"""
    latencyMs: int
    url: str
    requestHeaders: dict[str, str]
    responseStatus: int | None
    responseBody: str
    """The first 1024 bytes"""
    error: str | None


class WebhookDeliveryLog(TypedDict):
    id: str
    """The webhook-id header, the same on every attempt"""
    eventId: str | None
    """Null for a test"""
    type: str
    status: Literal["PENDING", "SUCCEEDED", "EXHAUSTED", "CANCELLED"]
    attempts: int
    """Of 8; a redelivery begins anew"""
    nextAttemptAt: str | None
    """ISO 8601, UTC"""
    responseStatus: int | None
    """Of the last attempt, as are error and latencyMs"""
    error: str | None
    latencyMs: int | None
    createdAt: str
    """ISO 8601, UTC"""
    completedAt: str | None
    """ISO 8601, UTC"""
    requestBody: str
    """What is sent and signed, byte for byte"""
    log: list[WebhookAttempt]
    """The newest 50 attempts, oldest first"""


class TicketWithReplies(TypedDict):
    id: str
    subject: str
    status: Literal["OPEN", "ANSWERED", "CLOSED"]
    """OPEN waits for support, ANSWERED for you"""
    replyCount: int
    createdAt: str
    """ISO 8601, UTC"""
    updatedAt: str
    """ISO 8601, UTC"""
    closedAt: str | None
    """ISO 8601, UTC"""
    body: str
    replies: list[TicketReply]
    """The oldest first"""


class Project(TypedDict):
    id: str
    """Of an account: to name it where one of several is meant"""
    name: str
    createdAt: str
    """ISO 8601, UTC"""
    budget: Budget | None
    vmCount: int
    """VMs in it; the limits of the account are for all its projects together"""


class SearchResult(TypedDict):
    kind: Literal[
        "vm",
        "address",
        "network",
        "firewall",
        "volume",
        "volume_snapshot",
        "snapshot",
        "backup",
        "image",
        "ssh_key",
        "placement_group",
        "alert",
        "webhook",
        "project",
        "token",
        "action",
    ]
    id: str
    name: str
    detail: str | None
    """What was found where that is not the name, such as an address; or what else tells it from others"""
    vmId: NotRequired[str]
    """The VM that it belongs to"""
    labels: NotRequired[dict[str, str]]


class WebhookTestEventData(TypedDict):
    webhookId: str


class WebhookTestEvent(TypedDict):
    id: str
    """The id of the event, the same in `GET /events`; of a test, that of the delivery"""
    type: Literal["webhook.test"]
    timestamp: str
    """ISO 8601, UTC"""
    data: WebhookTestEventData


class VmWebhookEvent(TypedDict):
    id: str
    type: Literal[
        "vm.created",
        "vm.started",
        "vm.stopped",
        "vm.restarted",
        "vm.suspended",
        "vm.terminated",
        "vm.provisioning",
        "vm.error",
        "vm.upgrading",
        "vm.upgraded",
        "vm.upgrade_failed",
        "vm.resizing",
        "vm.resized",
        "vm.resize_failed",
        "vm.rebuilding",
        "vm.rebuilt",
        "vm.rebuild_failed",
        "vm.shelved",
        "vm.shelve_failed",
        "vm.unshelved",
        "vm.unshelve_failed",
        "vm.rescue_started",
        "vm.rescue_failed",
        "vm.rescue_expired",
        "vm.rescue_ended",
        "vm.recovered",
        "vm.lost",
        "vm.migrated",
        "vm.unsuspended",
        "vm.unmanaged",
        "vm.adopted",
        "vm.renewed",
        "vm.past_due",
        "bandwidth.throttled",
        "bandwidth.unthrottled",
    ]
    timestamp: str
    """ISO 8601, UTC"""
    data: VmEventData


class IsoWebhookEvent(TypedDict):
    id: str
    type: Literal["vm.iso_attached", "vm.iso_detached"]
    timestamp: str
    """ISO 8601, UTC"""
    data: IsoEventData


class InitializationWebhookEvent(TypedDict):
    id: str
    type: Literal["vm.initialized", "vm.initialization_failed"]
    timestamp: str
    """ISO 8601, UTC"""
    data: InitializationEventData


class NetworkWebhookEvent(TypedDict):
    id: str
    type: Literal["vm.network_attached", "vm.network_detached"]
    timestamp: str
    """ISO 8601, UTC"""
    data: NetworkEventData


class LowBalanceWebhookEvent(TypedDict):
    id: str
    type: Literal["billing.low_balance"]
    timestamp: str
    """ISO 8601, UTC"""
    data: LowBalanceEventData


class PaymentWebhookEvent(TypedDict):
    id: str
    type: Literal["billing.payment_received"]
    timestamp: str
    """ISO 8601, UTC"""
    data: PaymentEventData


class TicketReplyWebhookEvent(TypedDict):
    id: str
    type: Literal["ticket.reply"]
    timestamp: str
    """ISO 8601, UTC"""
    data: TicketReplyEventData


class TicketClosedWebhookEvent(TypedDict):
    id: str
    type: Literal["ticket.closed"]
    timestamp: str
    """ISO 8601, UTC"""
    data: TicketClosedEventData


class SnapshotWebhookEvent(TypedDict):
    id: str
    type: Literal["snapshot.created", "snapshot.deleted", "snapshot.restored"]
    timestamp: str
    """ISO 8601, UTC"""
    data: SnapshotEventData


class BackupWebhookEvent(TypedDict):
    id: str
    type: Literal["backup.created", "backup.failed", "backup.deleted", "backup.restored", "backup.verified", "backup.verification_failed"]
    timestamp: str
    """ISO 8601, UTC"""
    data: BackupEventData


class RestoreFailedWebhookEvent(TypedDict):
    id: str
    type: Literal["vm.restore_failed"]
    timestamp: str
    """ISO 8601, UTC"""
    data: RestoreFailedEventData


class ImageWebhookEvent(TypedDict):
    id: str
    type: Literal["image.creating", "image.created", "image.failed", "image.updated", "image.renewed", "image.past_due", "image.deleted"]
    timestamp: str
    """ISO 8601, UTC"""
    data: ImageEventData


class ConsoleWebhookEvent(TypedDict):
    id: str
    type: Literal["vm.console_opened"]
    timestamp: str
    """ISO 8601, UTC"""
    data: ConsoleEventData


class AddressWebhookEvent(TypedDict):
    id: str
    type: Literal[
        "address.reserved",
        "address.assigned",
        "address.unassigned",
        "address.assignment_failed",
        "address.renewed",
        "address.past_due",
        "address.released",
    ]
    timestamp: str
    """ISO 8601, UTC"""
    data: AddressEventData


class VolumeWebhookEvent(TypedDict):
    id: str
    type: Literal[
        "volume.created",
        "volume.attached",
        "volume.attach_failed",
        "volume.detached",
        "volume.detach_failed",
        "volume.grown",
        "volume.grow_failed",
        "volume.renewed",
        "volume.past_due",
        "volume.deleted",
    ]
    timestamp: str
    """ISO 8601, UTC"""
    data: VolumeEventData


class VolumeSnapshotWebhookEvent(TypedDict):
    id: str
    type: Literal[
        "volume.snapshot_created",
        "volume.snapshot_failed",
        "volume.snapshot_deleted",
        "volume.restored",
        "volume.restore_failed",
    ]
    timestamp: str
    """ISO 8601, UTC"""
    data: VolumeSnapshotEventData


class MaintenanceWebhookEvent(TypedDict):
    id: str
    type: Literal["maintenance.announced", "maintenance.cancelled"]
    timestamp: str
    """ISO 8601, UTC"""
    data: MaintenanceEventData


class MemberWebhookEvent(TypedDict):
    id: str
    type: Literal["member.updated"]
    timestamp: str
    """ISO 8601, UTC"""
    data: MemberEventData


class TokenWebhookEvent(TypedDict):
    id: str
    type: Literal["token.created", "token.updated", "token.revoked"]
    timestamp: str
    """ISO 8601, UTC"""
    data: TokenEventData


class AlertWebhookEvent(TypedDict):
    id: str
    type: Literal["alert.fired", "alert.resolved"]
    timestamp: str
    """ISO 8601, UTC"""
    data: AlertEventData


class ProjectWebhookEvent(TypedDict):
    id: str
    type: Literal["project.created", "project.updated", "project.deleted"]
    timestamp: str
    """ISO 8601, UTC"""
    data: ProjectEventData


class FirewallRulesChangedWebhookEvent(TypedDict):
    id: str
    type: Literal["firewall.rules_changed"]
    timestamp: str
    """ISO 8601, UTC"""
    data: FirewallRulesChangedEventData


class FirewallRulesUndoneWebhookEvent(TypedDict):
    id: str
    type: Literal["firewall.rules_undone"]
    timestamp: str
    """ISO 8601, UTC"""
    data: FirewallRulesUndoneEventData


class FirewallUndoFailedWebhookEvent(TypedDict):
    id: str
    type: Literal["firewall.undo_failed"]
    timestamp: str
    """ISO 8601, UTC"""
    data: FirewallUndoFailedEventData


class WebhookDisabledWebhookEvent(TypedDict):
    id: str
    type: Literal["webhook.disabled"]
    timestamp: str
    """ISO 8601, UTC"""
    data: WebhookDisabledEventData


class UpdateAccountBody(TypedDict):
    name: NotRequired[str]
    """must be 0-100 characters on one line, without control characters"""
    requireTwoFactor: NotRequired[bool]
    """Only a signed-in owner changes it, and only one with two-factor authentication switches it on"""


class ListMembersQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""


class UpdateMemberBody(TypedDict):
    """At least one of role and budget. An owner has no budget"""
    role: NotRequired[Literal["owner", "admin", "operator", "billing", "read-only", "custom"]]
    scopes: NotRequired[list[str]]
    """Of the role `custom`, and only of it. Shorthands such as *, vms:* and *:read are expanded"""
    budget: NotRequired[UpdateMemberBodyBudget | None]


class UpdateMemberBodyBudget(TypedDict):
    monthlyAmount: NotRequired[str | None]
    """What may be charged through it in a calendar month (UTC), for example "50.00"; null = no limit"""
    maxVms: NotRequired[int | None]
    """How many VMs that were created through it may exist at a time; null = no limit"""
    labelSelector: NotRequired[str | None]
    """It can be charged only for what has labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the
    label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not); null = for everything"""


class ListInvitationsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""


class CreateInvitationBody(TypedDict):
    email: str
    """must be an e-mail address"""
    role: Literal["owner", "admin", "operator", "billing", "read-only", "custom"]
    scopes: NotRequired[list[str]]
    """Of the role `custom`, and only of it. Shorthands such as *, vms:* and *:read are expanded"""
    budget: NotRequired[CreateInvitationBodyBudget | None]


class CreateInvitationBodyBudget(TypedDict):
    monthlyAmount: NotRequired[str | None]
    """What may be charged through it in a calendar month (UTC), for example "50.00"; null = no limit"""
    maxVms: NotRequired[int | None]
    """How many VMs that were created through it may exist at a time; null = no limit"""
    labelSelector: NotRequired[str | None]
    """It can be charged only for what has labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the
    label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not); null = for everything"""


class GetActionQuery(TypedDict):
    wait: NotRequired[int]
    """Seconds to wait for the end of the action before answering"""


class ListVmActionsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    status: NotRequired[Literal["PENDING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED"]]


class ListActionsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    status: NotRequired[Literal["PENDING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED"]]


class ListEventsQuery(TypedDict):
    after: NotRequired[str]
    """The cursor of the last event already seen; left out, the list begins with the oldest event and a stream with the next one"""
    limit: NotRequired[int]
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""


class ListWalletTransactionsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    type: NotRequired[Literal[
        "DEPOSIT",
        "CREDIT",
        "VM_CHARGE",
        "VM_RENEWAL",
        "VM_UPGRADE",
        "VM_REFUND",
        "BANDWIDTH_PACK",
        "ADDON_CHARGE",
        "ADJUSTMENT",
        "ADDRESS_CHARGE",
        "ADDRESS_RENEWAL",
        "ADDRESS_REFUND",
        "IMAGE_CHARGE",
        "IMAGE_RENEWAL",
        "IMAGE_REFUND",
        "VOLUME_CHARGE",
        "VOLUME_UPGRADE",
        "VOLUME_RENEWAL",
        "VOLUME_REFUND",
        "VM_UNSHELVE",
    ]]
    dateFrom: NotRequired[str]
    """ISO 8601 date or date-time, UTC unless it says otherwise; a date means its first moment"""
    dateTo: NotRequired[str]
    """ISO 8601 date or date-time, UTC unless it says otherwise; a date means its last moment"""
    kind: NotRequired[Literal["COST", "PAYMENT"]]
    """COST: what was bought, and refunds of it. PAYMENT: deposits, credits and adjustments"""
    referenceId: NotRequired[str]
    """The id of what it was for, such as a VM; also of one that is deleted"""
    projectId: NotRequired[str]
    """Of this project; none = of the account itself. Within a project it is always that one"""
    labelSelector: NotRequired[str]
    """Of what has these labels, or had them when it was deleted, separated by commas: `env=prod`, `env!=prod` (also without the label),
    `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""


class GetWalletCostsQuery(TypedDict):
    month: NotRequired[str]
    """Such as 2027-01, by UTC; the present one unless given"""
    by: NotRequired[str]
    """resource: each VM, volume, image and address; type: of the transactions; project; label:env: each value of this label"""


class GetWalletTimelineQuery(TypedDict):
    days: NotRequired[int]
    """How far back and ahead"""


class ListDepositsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""


class ListInvoicesQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""


class ListAuditLogQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    dateFrom: NotRequired[str]
    """ISO 8601 date or date-time, UTC unless it says otherwise; a date means its first moment"""
    dateTo: NotRequired[str]
    """ISO 8601 date or date-time, UTC unless it says otherwise; a date means its last moment"""
    action: NotRequired[str]
    """Only this action, for example createVm. Among the newest 100,000 lines of the time asked for"""
    tokenId: NotRequired[str]
    """Only what was done with this token. Among the newest 100,000 lines of the time asked for"""
    personId: NotRequired[str]
    """Only what this person did, signed in or by a token of theirs. Among the newest 100,000 lines of the time asked for"""


class ListTokensQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""


class CreateTokenBody(TypedDict):
    name: str
    """must be 1-100 characters on one line, without control characters"""
    scopes: list[str]
    """Shorthands such as *, vms:* and *:read are expanded. A token can give only what it has itself"""
    expiresAt: NotRequired[str | None]
    """ISO 8601, UTC"""
    allowedIps: NotRequired[list[str]]
    """Addresses and ranges such as 10.0.0.0/8 from which it may be used; empty = from everywhere"""
    budget: NotRequired[CreateTokenBodyBudget | None]


class CreateTokenBodyBudget(TypedDict):
    monthlyAmount: NotRequired[str | None]
    """What may be charged through it in a calendar month (UTC), for example "50.00"; null = no limit"""
    maxVms: NotRequired[int | None]
    """How many VMs that were created through it may exist at a time; null = no limit"""
    labelSelector: NotRequired[str | None]
    """It can be charged only for what has labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the
    label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not); null = for everything"""


class UpdateTokenBody(TypedDict):
    """At least one of them. What is taken from a token is taken from all that were made with it"""
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    scopes: NotRequired[list[str]]
    """Shorthands such as *, vms:* and *:read are expanded. A token can give only what it has itself"""
    expiresAt: NotRequired[str | None]
    """ISO 8601, UTC"""
    allowedIps: NotRequired[list[str]]
    """Addresses and ranges such as 10.0.0.0/8 from which it may be used; empty = from everywhere"""
    budget: NotRequired[UpdateTokenBodyBudget | None]
    isActive: NotRequired[Literal[False]]
    """Revokes it for good; it stays listed"""


class UpdateTokenBodyBudget(TypedDict):
    monthlyAmount: NotRequired[str | None]
    """What may be charged through it in a calendar month (UTC), for example "50.00"; null = no limit"""
    maxVms: NotRequired[int | None]
    """How many VMs that were created through it may exist at a time; null = no limit"""
    labelSelector: NotRequired[str | None]
    """It can be charged only for what has labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the
    label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not); null = for everything"""


class ListSshKeysQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    name: NotRequired[str]
    """Part of the name, in upper or lower case"""
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""
    sort: NotRequired[Literal["createdAt", "-createdAt", "name", "-name", "type", "-type", "vmCount", "-vmCount"]]
    """A leading - means descending"""


class CreateSshKeyBody(TypedDict):
    name: str
    """must be 1-100 characters on one line, without control characters"""
    publicKey: str
    """One OpenSSH public key: ssh-ed25519, ssh-rsa of at least 2048 bits, ecdsa-sha2-nistp256/384/521, or a security key (sk-…)"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""


class RenameSshKeyBody(TypedDict):
    """At least one of them"""
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""


class DeleteSshKeyData(TypedDict):
    id: str


class ListPlacementGroupsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""


class RenamePlacementGroupBody(TypedDict):
    """At least one of them"""
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""


class DeletePlacementGroupData(TypedDict):
    id: str


class ListNetworksQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    regionId: NotRequired[str]
    """Only those of this region"""
    name: NotRequired[str]
    """Part of the name, in upper or lower case"""
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""
    sort: NotRequired[Literal[
        "createdAt",
        "-createdAt",
        "name",
        "-name",
        "cidr",
        "-cidr",
        "region",
        "-region",
        "attachmentCount",
        "-attachmentCount",
    ]]
    """A leading - means descending; region by its name"""


class ListFirewallsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    name: NotRequired[str]
    """Part of the name, in upper or lower case"""
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""
    sort: NotRequired[Literal["createdAt", "-createdAt", "name", "-name", "ruleCount", "-ruleCount", "bindingCount", "-bindingCount"]]
    """A leading - means descending"""


class DeleteFirewallData(TypedDict):
    id: str


class DeleteFirewallRuleData(TypedDict):
    id: str


class ListAvailabilityQuery(TypedDict):
    region: NotRequired[str]
    """Slug or id of a region"""
    plan: NotRequired[str]
    """Slug or id of a plan"""
    architecture: NotRequired[Literal["x86_64", "aarch64"]]


class VmCreatedWithVmId(VmCreated):
    vmId: str


class ListVmsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    status: NotRequired[Literal["PROVISIONING", "RUNNING", "STOPPED", "SUSPENDED", "REBUILDING", "UPGRADING", "UNMANAGED", "ERROR"]]
    region: NotRequired[str]
    """Slug or id of a region"""
    plan: NotRequired[str]
    """Slug or id of a plan; custom = a custom configuration"""
    network: NotRequired[str]
    """Id of a private network"""
    firewall: NotRequired[str]
    """Id of a firewall"""
    shelved: NotRequired[bool]
    """Whether they are shelved"""
    name: NotRequired[str]
    """Part of the name, in upper or lower case"""
    address: NotRequired[str]
    """A public address, or the address in a private network"""
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""
    sort: NotRequired[Literal[
        "createdAt",
        "-createdAt",
        "name",
        "-name",
        "nextRenewalAt",
        "-nextRenewalAt",
        "status",
        "-status",
        "priceMonthly",
        "-priceMonthly",
        "region",
        "-region",
        "plan",
        "-plan",
    ]]
    """A leading - means descending; region and plan by their names"""


class ActionStartedWithVmId(ActionStarted):
    vmId: str


class StopVmBody(TypedDict):
    force: NotRequired[bool]
    """Cut it off at once instead of asking the guest first"""


class RestartVmBody(TypedDict):
    force: NotRequired[bool]
    """Cut it off at once instead of asking the guest first"""


class ListMaintenancesQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""


class GetVmMetricsQuery(TypedDict):
    from_: NotRequired[str]
    """The beginning; an hour before `to` unless given. Metrics are kept for 30 days"""
    to: NotRequired[str]
    """The end; now unless given"""
    step: NotRequired[int]
    """Seconds between two points: a multiple of 60, or of 900 for a range that begins more than 24 hours ago; chosen by the length of the
    range unless given"""


class GetRecentVmMetricsQuery(TypedDict):
    vmIds: str
    """Ids of at most 100 VMs, separated by commas. Those that the account does not have are left out"""


class SnapshotCreatedWithVmId(SnapshotCreated):
    vmId: str


class ListSnapshotsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""


class ListBackupsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""


class BackupCreatedWithVmId(BackupCreated):
    vmId: str


class ListImagesQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    kind: NotRequired[Literal["DISK", "ISO"]]
    """Only those of this kind"""
    status: NotRequired[Literal["CREATING", "AVAILABLE", "FAILED", "DELETING"]]
    name: NotRequired[str]
    """Part of the name, in upper or lower case"""
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""
    sort: NotRequired[Literal[
        "createdAt",
        "-createdAt",
        "name",
        "-name",
        "kind",
        "-kind",
        "status",
        "-status",
        "size",
        "-size",
        "priceMonthly",
        "-priceMonthly",
    ]]
    """A leading - means descending"""


class ListBandwidthPacksQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""


class ListAddressesQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    regionId: NotRequired[str]
    """Only those of this region"""
    vmId: NotRequired[str]
    """Only those of this VM"""
    name: NotRequired[str]
    """Part of the name, in upper or lower case"""
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""
    sort: NotRequired[Literal[
        "createdAt",
        "-createdAt",
        "address",
        "-address",
        "name",
        "-name",
        "region",
        "-region",
        "priceMonthly",
        "-priceMonthly",
    ]]
    """A leading - means descending; region by its name"""


class UnassignAddressQuery(TypedDict):
    expectedVmId: NotRequired[str]
    """The VM that has it now: if another has it, the answer is 409"""


class ListVolumesQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    regionId: NotRequired[str]
    """Only those of this region"""
    vmId: NotRequired[str]
    """Only those of this VM"""
    status: NotRequired[Literal["AVAILABLE", "ATTACHING", "ATTACHED", "DETACHING"]]
    name: NotRequired[str]
    """Part of the name, in upper or lower case"""
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""
    sort: NotRequired[Literal[
        "createdAt",
        "-createdAt",
        "name",
        "-name",
        "sizeGiB",
        "-sizeGiB",
        "region",
        "-region",
        "status",
        "-status",
        "priceMonthly",
        "-priceMonthly",
    ]]
    """A leading - means descending; region by its name"""


class ListVolumeSnapshotsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""


class ListAlertsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""


class UpdateAlertBody(TypedDict):
    """At least one of them"""
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    comparison: NotRequired[Literal["ABOVE", "BELOW"]]
    threshold: NotRequired[float]
    """Percent, bytes per second, or days"""
    forMinutes: NotRequired[int]
    """How long it must be so; 5 unless given. Not for trafficPercent and balanceDays, which are so at once"""
    vmIds: NotRequired[list[str] | None]
    labelSelector: NotRequired[str | None]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""


class DeleteAlertData(TypedDict):
    id: str


class ListWebhooksQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    labelSelector: NotRequired[str]
    """Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`,
    `env notin (prod,test)`, `env` (has the label), `!env` (has it not)"""


class CreateWebhookBody(TypedDict):
    url: str
    """An https URL with a public host"""
    events: list[EventType]
    """What to be told of; a name given twice counts once"""
    description: NotRequired[str]
    """must be 0-200 characters on one line, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""
    labelSelector: NotRequired[str | None]
    """Only events of VMs, volumes, images and addresses whose labels, as the event shows them, meet this, such as `env=prod,!canary`; other
    events count as without labels. Null: all"""


class UpdateWebhookBody(TypedDict):
    url: NotRequired[str]
    """An https URL with a public host"""
    events: NotRequired[list[EventType]]
    """What to be told of; a name given twice counts once"""
    description: NotRequired[str]
    """must be 0-200 characters on one line, without control characters"""
    labels: NotRequired[dict[str, str]]
    """At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were"""
    labelSelector: NotRequired[str | None]
    """Only events of VMs, volumes, images and addresses whose labels, as the event shows them, meet this, such as `env=prod,!canary`; other
    events count as without labels. Null: all"""
    isActive: NotRequired[bool]
    """true begins anew with a failCount of 0; false cancels what is still to be sent"""


class DeleteWebhookData(TypedDict):
    id: str


class TestWebhookData(TypedDict):
    message: str
    """Whether the receiver took the test event, and if not, why"""


class ListWebhookDeliveriesQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    status: NotRequired[Literal["PENDING", "SUCCEEDED", "EXHAUSTED", "CANCELLED"]]


class ListTicketsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""
    status: NotRequired[Literal["OPEN", "ANSWERED", "CLOSED"]]


class CreateTicketBody(TypedDict):
    subject: str
    """must be 1-200 characters on one line"""
    body: str
    """Plain text: nothing in it is ever read as markup"""


class ReplyToTicketBody(TypedDict):
    body: str
    """Plain text: nothing in it is ever read as markup"""


class ListProjectsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    cursor: NotRequired[str]
    """The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing"""


class CreateProjectBody(TypedDict):
    name: str
    """must be 1-100 characters on one line, without control characters"""
    budget: NotRequired[CreateProjectBodyBudget | None]


class CreateProjectBodyBudget(TypedDict):
    monthlyAmount: NotRequired[str | None]
    """What may be charged through it in a calendar month (UTC), for example "50.00"; null = no limit"""
    maxVms: NotRequired[int | None]
    """How many VMs that were created through it may exist at a time; null = no limit"""
    labelSelector: NotRequired[str | None]
    """It can be charged only for what has labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the
    label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not); null = for everything"""


class UpdateProjectBody(TypedDict):
    """At least one of them"""
    name: NotRequired[str]
    """must be 1-100 characters on one line, without control characters"""
    budget: NotRequired[UpdateProjectBodyBudget | None]


class UpdateProjectBodyBudget(TypedDict):
    monthlyAmount: NotRequired[str | None]
    """What may be charged through it in a calendar month (UTC), for example "50.00"; null = no limit"""
    maxVms: NotRequired[int | None]
    """How many VMs that were created through it may exist at a time; null = no limit"""
    labelSelector: NotRequired[str | None]
    """It can be charged only for what has labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the
    label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not); null = for everything"""


class DeleteProjectData(TypedDict):
    id: str


class SearchQuery(TypedDict):
    q: str
    """Part of a name, id, address, reverse name or label, in any case; all of it is literal text"""
    limit: NotRequired[int]


Event: TypeAlias = (
    VmEvent
    | IsoEvent
    | InitializationEvent
    | NetworkEvent
    | LowBalanceEvent
    | PaymentEvent
    | TicketReplyEvent
    | TicketClosedEvent
    | SnapshotEvent
    | BackupEvent
    | RestoreFailedEvent
    | ImageEvent
    | ConsoleEvent
    | AddressEvent
    | VolumeEvent
    | VolumeSnapshotEvent
    | MaintenanceEvent
    | MemberEvent
    | TokenEvent
    | AlertEvent
    | ProjectEvent
    | FirewallRulesChangedEvent
    | FirewallRulesUndoneEvent
    | FirewallUndoFailedEvent
    | WebhookDisabledEvent
)


ErrorCode: TypeAlias = Literal[
    "invalid_json",
    "malformed_request",
    "validation_failed",
    "unauthorized",
    "wrong_credentials",
    "wrong_totp",
    "insufficient_funds",
    "budget_exceeded",
    "missing_scope",
    "account_required",
    "in_project",
    "two_factor_required",
    "origin_not_allowed",
    "https_required",
    "operator_only",
    "reauthentication_required",
    "identity_refused",
    "sign_up_closed",
    "not_found",
    "method_not_allowed",
    "request_timeout",
    "busy",
    "invalid_state",
    "version_conflict",
    "protected",
    "in_use",
    "already_exists",
    "networks_overlap",
    "networks_lost",
    "idempotency_in_progress",
    "link_gone",
    "payload_too_large",
    "unsupported_media_type",
    "idempotency_key_reused",
    "too_many_idempotency_keys",
    "plan_not_larger",
    "unavailable",
    "incompatible",
    "quota_exceeded",
    "region_mismatch",
    "url_not_allowed",
    "rate_limited",
    "headers_too_large",
    "internal_error",
    "no_capacity",
    "service_unavailable",
]


EventType: TypeAlias = Literal[
    "vm.created",
    "vm.started",
    "vm.stopped",
    "vm.restarted",
    "vm.suspended",
    "vm.terminated",
    "vm.provisioning",
    "vm.error",
    "vm.upgrading",
    "vm.upgraded",
    "vm.upgrade_failed",
    "vm.resizing",
    "vm.resized",
    "vm.resize_failed",
    "vm.rebuilding",
    "vm.rebuilt",
    "vm.rebuild_failed",
    "vm.shelved",
    "vm.shelve_failed",
    "vm.unshelved",
    "vm.unshelve_failed",
    "vm.rescue_started",
    "vm.rescue_failed",
    "vm.rescue_expired",
    "vm.rescue_ended",
    "vm.iso_attached",
    "vm.iso_detached",
    "vm.initialized",
    "vm.initialization_failed",
    "vm.network_attached",
    "vm.network_detached",
    "vm.recovered",
    "vm.lost",
    "vm.migrated",
    "vm.unsuspended",
    "vm.unmanaged",
    "vm.adopted",
    "vm.renewed",
    "vm.past_due",
    "billing.low_balance",
    "billing.payment_received",
    "ticket.reply",
    "ticket.closed",
    "snapshot.created",
    "snapshot.deleted",
    "snapshot.restored",
    "backup.created",
    "backup.failed",
    "backup.deleted",
    "backup.restored",
    "backup.verified",
    "backup.verification_failed",
    "vm.restore_failed",
    "image.creating",
    "image.created",
    "image.failed",
    "image.updated",
    "image.renewed",
    "image.past_due",
    "image.deleted",
    "bandwidth.throttled",
    "bandwidth.unthrottled",
    "vm.console_opened",
    "address.reserved",
    "address.assigned",
    "address.unassigned",
    "address.assignment_failed",
    "address.renewed",
    "address.past_due",
    "address.released",
    "volume.created",
    "volume.attached",
    "volume.attach_failed",
    "volume.detached",
    "volume.detach_failed",
    "volume.grown",
    "volume.grow_failed",
    "volume.renewed",
    "volume.past_due",
    "volume.deleted",
    "volume.snapshot_created",
    "volume.snapshot_failed",
    "volume.snapshot_deleted",
    "volume.restored",
    "volume.restore_failed",
    "maintenance.announced",
    "maintenance.cancelled",
    "member.updated",
    "token.created",
    "token.updated",
    "token.revoked",
    "alert.fired",
    "alert.resolved",
    "project.created",
    "project.updated",
    "project.deleted",
    "firewall.rules_changed",
    "firewall.rules_undone",
    "firewall.undo_failed",
    "webhook.disabled",
]


WebhookEvent: TypeAlias = (
    VmWebhookEvent
    | IsoWebhookEvent
    | InitializationWebhookEvent
    | NetworkWebhookEvent
    | LowBalanceWebhookEvent
    | PaymentWebhookEvent
    | TicketReplyWebhookEvent
    | TicketClosedWebhookEvent
    | SnapshotWebhookEvent
    | BackupWebhookEvent
    | RestoreFailedWebhookEvent
    | ImageWebhookEvent
    | ConsoleWebhookEvent
    | AddressWebhookEvent
    | VolumeWebhookEvent
    | VolumeSnapshotWebhookEvent
    | MaintenanceWebhookEvent
    | MemberWebhookEvent
    | TokenWebhookEvent
    | AlertWebhookEvent
    | ProjectWebhookEvent
    | FirewallRulesChangedWebhookEvent
    | FirewallRulesUndoneWebhookEvent
    | FirewallUndoFailedWebhookEvent
    | WebhookDisabledWebhookEvent
    | WebhookTestEvent
)


EVENT_TYPES: tuple[EventType, ...] = get_args(EventType)
"""What a webhook can subscribe to and `events` lists."""
