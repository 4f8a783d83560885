// Made from openapi/v1.json by `npm run sdk:types`: change it there.

import type {
  Region,
  Plan,
  OsTemplate,
  Account,
  AccountLimit,
  Action,
  Event,
  Wallet,
  Transaction,
  Deposit,
  CreateDeposit,
  InvoiceSummary,
  Invoice,
  AuditEntry,
  Node,
  SshKey,
  Network,
  CreateNetwork,
  RenameNetwork,
  DeletedNetwork,
  Firewall,
  CreateFirewall,
  ChangeFirewall,
  FirewallRule,
  AddRule,
  ReplaceRules,
  ChangeRule,
  FirewallBindingState,
  Vm,
  VmCreated,
  Quote,
  CreateVm,
  VmListItem,
  UpdateVm,
  ActionStarted,
  UpgradeVm,
  RebuildVm,
  SetPassword,
  AttachNetwork,
  ConsoleLink,
  OpenConsole,
  VmMetrics,
  Snapshot,
  SnapshotCreated,
  CreateSnapshot,
  Backup,
  BackupCreated,
  CreateBackup,
  RestoreBackup,
  BackupDeleted,
  FirewallBinding,
  BindFirewall,
  FirewallVerdict,
  CheckPacket,
  BandwidthUsage,
  BuyBandwidthPack,
  Webhook,
  WebhookWithSecret,
  WebhookDelivery,
  WebhookDeliveryLog,
  Ticket,
  TicketReply,
  TicketWithReplies,
} from './schemas.ts'

export const PREFIX = '/api/public/v1'

export interface Operations {
  /** List regions. Needs the scope `catalog:read`. */
  listRegions: {
    input: Record<string, never>
    data: Region[]
  }
  /** List plans. Needs the scope `catalog:read`. */
  listPlans: {
    input: Record<string, never>
    data: Plan[]
  }
  /** List OS templates. Needs the scope `catalog:read`. */
  listOsTemplates: {
    input: Record<string, never>
    data: OsTemplate[]
  }
  /** Get an OS template. Needs the scope `catalog:read`. */
  getOsTemplate: {
    input: {
      path: {
        slug: string
      }
    }
    data: OsTemplate
  }
  /** Get the account the token belongs to. Needs the scope `account:read`. */
  getAccount: {
    input: Record<string, never>
    data: Account
  }
  /** List the account's limits and how much of each is in use. Needs the scope `account:read`. */
  listAccountLimits: {
    input: Record<string, never>
    data: AccountLimit[]
  }
  /** Get an action of a VM. Needs the scope `vms:read`. */
  getAction: {
    input: {
      path: {
        id: string
        actionId: string
      }
      query?: {
        /** Seconds to wait for the end of the action before answering */
        wait?: number | undefined
      } | undefined
    }
    data: Action
  }
  /** List the actions of a VM, newest first. Needs the scope `vms:read`. */
  listVmActions: {
    input: {
      path: {
        id: string
      }
      query?: {
        page?: number | undefined
        limit?: number | undefined
        status?: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | undefined
      } | undefined
    }
    data: Action[]
    paged: true
  }
  /** List the actions of all VMs, newest first. Needs the scope `vms:read`. */
  listActions: {
    input: {
      query?: {
        page?: number | undefined
        limit?: number | undefined
        status?: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | undefined
      } | undefined
    }
    data: Action[]
    paged: true
  }
  /** List events after a cursor, oldest first; with Accept: text/event-stream a live stream that resumes from Last-Event-ID. Needs the scope `events:read`. */
  listEvents: {
    input: {
      query?: {
        /** The cursor of the last event already seen; left out, the list begins with the oldest event and a stream with the next one */
        after?: string | undefined
        limit?: number | undefined
      } | undefined
    }
    data: Event[]
  }
  /** Get the balance and how long it lasts. Needs the scope `wallet:read`. */
  getWallet: {
    input: Record<string, never>
    data: Wallet
  }
  /** List wallet transactions, newest first. Needs the scope `wallet:read`. */
  listWalletTransactions: {
    input: {
      query?: {
        page?: number | undefined
        limit?: number | undefined
        type?: 'DEPOSIT' | 'CREDIT' | 'VM_CHARGE' | 'VM_RENEWAL' | 'VM_UPGRADE' | 'VM_REFUND' | 'BANDWIDTH_PACK' | 'ADDON_CHARGE' | 'ADJUSTMENT' | undefined
        /** ISO 8601 date or date-time, UTC unless it says otherwise; a date means its first moment */
        dateFrom?: string | undefined
        /** ISO 8601 date or date-time, UTC unless it says otherwise; a date means its last moment */
        dateTo?: string | undefined
      } | undefined
    }
    data: Transaction[]
    paged: true
  }
  /** Begin a deposit: the answer says where to pay. Needs the scope `wallet:deposit`. */
  createDeposit: {
    input: {
      body: CreateDeposit
    }
    data: Deposit
  }
  /** List deposits, newest first. Needs the scope `wallet:read`. */
  listDeposits: {
    input: {
      query?: {
        page?: number | undefined
        limit?: number | undefined
      } | undefined
    }
    data: Deposit[]
    paged: true
  }
  /** Get a deposit. Needs the scope `wallet:read`. */
  getDeposit: {
    input: {
      path: {
        id: string
      }
    }
    data: Deposit
  }
  /** List invoices, the newest month first. Needs the scope `wallet:read`. */
  listInvoices: {
    input: {
      query?: {
        page?: number | undefined
        limit?: number | undefined
      } | undefined
    }
    data: InvoiceSummary[]
    paged: true
  }
  /** Get an invoice with its lines, and a link to a page to print. Needs the scope `wallet:read`. */
  getInvoice: {
    input: {
      path: {
        id: string
      }
    }
    data: Invoice
  }
  /** List who changed what and what was refused, newest first; pages reach back 10,000 entries, dates all of 365 days. Needs the scope `account:read`. */
  listAuditLog: {
    input: {
      query?: {
        page?: number | undefined
        limit?: number | undefined
        /** ISO 8601 date or date-time, UTC unless it says otherwise; a date means its first moment */
        dateFrom?: string | undefined
        /** ISO 8601 date or date-time, UTC unless it says otherwise; a date means its last moment */
        dateTo?: string | undefined
        /** Only this action, for example createVm. Among the newest 100,000 lines of the time asked for */
        action?: string | undefined
        /** Only what was done with this token. Among the newest 100,000 lines of the time asked for */
        tokenId?: string | undefined
      } | undefined
    }
    data: AuditEntry[]
    paged: true
  }
  /** List a region's nodes. Needs the scope `catalog:read`. */
  listNodes: {
    input: {
      path: {
        id: string
      }
    }
    data: Node[]
  }
  /** List SSH keys, newest first. Needs the scope `ssh_keys:read`. */
  listSshKeys: {
    input: {
      query?: {
        page?: number | undefined
        limit?: number | undefined
      } | undefined
    }
    data: SshKey[]
    paged: true
  }
  /** Add an SSH key. Needs the scope `ssh_keys:create`. */
  createSshKey: {
    input: {
      body: {
        name: string
        /** One OpenSSH public key: ssh-ed25519, ssh-rsa of at least 2048 bits, ecdsa-sha2-nistp256/384/521, or a security key (sk-…) */
        publicKey: string
      }
    }
    data: SshKey
  }
  /** Get an SSH key. Needs the scope `ssh_keys:read`. */
  getSshKey: {
    input: {
      path: {
        id: string
      }
    }
    data: SshKey
  }
  /** Rename an SSH key. Needs the scope `ssh_keys:update`. */
  renameSshKey: {
    input: {
      path: {
        id: string
      }
      body: {
        name: string
      }
    }
    data: SshKey
  }
  /** Delete an SSH key. VMs it was installed on keep it: remove it inside them, or rebuild them. Needs the scope `ssh_keys:delete`. */
  deleteSshKey: {
    input: {
      path: {
        id: string
      }
    }
    data: {
      id: string
    }
  }
  /** List private networks, newest first. Needs the scope `networks:read`. */
  listNetworks: {
    input: {
      query?: {
        page?: number | undefined
        limit?: number | undefined
      } | undefined
    }
    data: Network[]
    paged: true
  }
  /** Create a private network. Needs the scope `networks:create`. */
  createNetwork: {
    input: {
      body: CreateNetwork
    }
    data: Network
  }
  /** Get a private network. Needs the scope `networks:read`. */
  getNetwork: {
    input: {
      path: {
        id: string
      }
    }
    data: Network
  }
  /** Rename a private network. Its range, gateway, SNAT and DHCP stay as they were created. Needs the scope `networks:update`. */
  renameNetwork: {
    input: {
      path: {
        id: string
      }
      body: RenameNetwork
    }
    data: Network
  }
  /** Delete a private network that no VM is attached to. Needs the scope `networks:delete`. */
  deleteNetwork: {
    input: {
      path: {
        id: string
      }
    }
    data: DeletedNetwork
  }
  /** List firewalls, newest first. Needs the scope `firewalls:read`. */
  listFirewalls: {
    input: {
      query?: {
        page?: number | undefined
        limit?: number | undefined
      } | undefined
    }
    data: Firewall[]
    paged: true
  }
  /** Create a firewall. Bound to a VM, it drops what comes in unless a rule accepts it, and lets out everything. Needs the scope `firewalls:create`. */
  createFirewall: {
    input: {
      body: CreateFirewall
    }
    data: Firewall
  }
  /** Get a firewall. Needs the scope `firewalls:read`. */
  getFirewall: {
    input: {
      path: {
        id: string
      }
    }
    data: Firewall
  }
  /** Rename or describe a firewall. Needs the scope `firewalls:update`. */
  changeFirewall: {
    input: {
      path: {
        id: string
      }
      body: ChangeFirewall
    }
    data: Firewall
  }
  /** Delete a firewall that is bound to no VM. Needs the scope `firewalls:delete`. */
  deleteFirewall: {
    input: {
      path: {
        id: string
      }
    }
    data: {
      id: string
    }
  }
  /** List a firewall's rules in their order. Needs the scope `firewalls:read`. */
  listFirewallRules: {
    input: {
      path: {
        id: string
      }
    }
    data: FirewallRule[]
  }
  /** Add a rule at the end, or insert it at a position. Needs the scope `firewalls:update`. */
  addFirewallRule: {
    input: {
      path: {
        id: string
      }
      body: AddRule
    }
    data: FirewallRule
  }
  /** Replace all rules at once. Needs the scope `firewalls:update`. */
  replaceFirewallRules: {
    input: {
      path: {
        id: string
      }
      body: ReplaceRules
    }
    data: FirewallRule[]
  }
  /** Get a rule. Needs the scope `firewalls:read`. */
  getFirewallRule: {
    input: {
      path: {
        id: string
        ruleId: string
      }
    }
    data: FirewallRule
  }
  /** Change or move a rule. Needs the scope `firewalls:update`. */
  changeFirewallRule: {
    input: {
      path: {
        id: string
        ruleId: string
      }
      body: ChangeRule
    }
    data: FirewallRule
  }
  /** Delete a rule. Needs the scope `firewalls:update`. */
  deleteFirewallRule: {
    input: {
      path: {
        id: string
        ruleId: string
      }
    }
    data: {
      id: string
    }
  }
  /** List the VMs a firewall is bound to, and whether their hosts have its latest rules. Needs the scope `firewalls:read`. */
  listFirewallBindings: {
    input: {
      path: {
        id: string
      }
    }
    data: FirewallBindingState[]
  }
  /** Bind a firewall to a VM; 200 when it was bound already. Needs the scope `firewalls:update`. */
  bindFirewall: {
    input: {
      path: {
        id: string
      }
      body: BindFirewall
    }
    data: FirewallBinding
  }
  /** Get a firewall's binding to a VM, and whether the VM's host has its latest rules. Needs the scope `firewalls:read`. */
  getFirewallBinding: {
    input: {
      path: {
        id: string
        vmId: string
      }
    }
    data: FirewallBindingState
  }
  /** Unbind a firewall from a VM. Needs the scope `firewalls:update`. */
  unbindFirewall: {
    input: {
      path: {
        id: string
        vmId: string
      }
    }
    data: FirewallBinding
  }
  /** Create a VM. Needs the scope `vms:create`. */
  createVm: {
    input: {
      query?: {
        /** Validate, place and price, but change nothing */
        dryRun?: boolean | undefined
      } | undefined
      body: CreateVm
    }
    data: Quote | VmCreated
  }
  /** List VMs. Needs the scope `vms:read`. */
  listVms: {
    input: {
      query?: {
        page?: number | undefined
        limit?: number | undefined
        status?: 'PROVISIONING' | 'RUNNING' | 'STOPPED' | 'SUSPENDED' | 'REBUILDING' | 'UPGRADING' | 'UNMANAGED' | 'ERROR' | undefined
      } | undefined
    }
    data: VmListItem[]
    paged: true
  }
  /** Get a VM. Needs the scope `vms:read`. */
  getVm: {
    input: {
      path: {
        id: string
      }
    }
    data: Vm
  }
  /** Rename or protect a VM, or switch its daily backups or 10G. Needs the scope `vms:update`. */
  updateVm: {
    input: {
      path: {
        id: string
      }
      query?: {
        /** Validate, place and price, but change nothing */
        dryRun?: boolean | undefined
      } | undefined
      body: UpdateVm
    }
    data: Vm | Quote
  }
  /** Delete a VM. Needs the scope `vms:delete`. */
  deleteVm: {
    input: {
      path: {
        id: string
      }
      query?: {
        /** Validate, place and price, but change nothing */
        dryRun?: boolean | undefined
      } | undefined
    }
    data: Quote | ActionStarted
  }
  /** Start a VM. Needs the scope `vms:power`. */
  startVm: {
    input: {
      path: {
        id: string
      }
    }
    data: ActionStarted
  }
  /** Stop a VM. Needs the scope `vms:power`. */
  stopVm: {
    input: {
      path: {
        id: string
      }
      body?: {
        /** Cut it off at once instead of asking the guest first */
        force?: boolean | undefined
      } | undefined
    }
    data: ActionStarted
  }
  /** Restart a VM. Needs the scope `vms:power`. */
  restartVm: {
    input: {
      path: {
        id: string
      }
      body?: {
        /** Cut it off at once instead of asking the guest first */
        force?: boolean | undefined
      } | undefined
    }
    data: ActionStarted
  }
  /** Upgrade a VM to a larger plan. Needs the scope `vms:update`. */
  upgradeVm: {
    input: {
      path: {
        id: string
      }
      query?: {
        /** Validate, place and price, but change nothing */
        dryRun?: boolean | undefined
      } | undefined
      body: UpgradeVm
    }
    data: Quote | ActionStarted
  }
  /** Reinstall a VM; everything on its disk is lost. Needs the scope `vms:update`. */
  rebuildVm: {
    input: {
      path: {
        id: string
      }
      query?: {
        /** Validate, place and price, but change nothing */
        dryRun?: boolean | undefined
      } | undefined
      body: RebuildVm
    }
    data: Quote | ActionStarted
  }
  /** Set the login password of a running VM. Needs the scope `vms:update`. */
  setVmPassword: {
    input: {
      path: {
        id: string
      }
      body: SetPassword
    }
    data: ActionStarted
  }
  /** Attach a VM to a private network. Needs the scope `networks:update`. */
  attachNetwork: {
    input: {
      path: {
        id: string
      }
      body: AttachNetwork
    }
    data: ActionStarted
  }
  /** Detach a VM from a private network. Needs the scope `networks:update`. */
  detachNetwork: {
    input: {
      path: {
        id: string
        networkId: string
      }
    }
    data: ActionStarted
  }
  /** Get a WebSocket URL that opens the console of a VM once, within 60 seconds. Needs the scope `vms:console`. */
  openConsole: {
    input: {
      path: {
        id: string
      }
      body: OpenConsole
    }
    data: ConsoleLink
  }
  /** Get what a VM used of CPU, memory, disk and network over time. Needs the scope `vms:read`. */
  getVmMetrics: {
    input: {
      path: {
        id: string
      }
      query?: {
        /** The beginning; an hour before `to` unless given. Metrics are kept for 30 days */
        from?: string | undefined
        /** The end; now unless given */
        to?: string | undefined
        /** Seconds between two points: a multiple of 60, or of 900 for a range that begins more than 24 hours ago; chosen by the length of the range unless given */
        step?: number | undefined
      } | undefined
    }
    data: VmMetrics
  }
  /** Take a snapshot of a VM. Needs the scope `snapshots:create`. */
  createSnapshot: {
    input: {
      path: {
        vmId: string
      }
      body: CreateSnapshot
    }
    data: SnapshotCreated
  }
  /** List the snapshots of a VM, newest first. Needs the scope `snapshots:read`. */
  listSnapshots: {
    input: {
      path: {
        vmId: string
      }
      query?: {
        page?: number | undefined
        limit?: number | undefined
      } | undefined
    }
    data: Snapshot[]
    paged: true
  }
  /** Get a snapshot. Needs the scope `snapshots:read`. */
  getSnapshot: {
    input: {
      path: {
        vmId: string
        id: string
      }
    }
    data: Snapshot
  }
  /** Delete a snapshot. Needs the scope `snapshots:delete`. */
  deleteSnapshot: {
    input: {
      path: {
        vmId: string
        id: string
      }
    }
    data: ActionStarted
  }
  /** Put a VM back to the moment of a snapshot; what was written since is lost. Needs the scope `snapshots:restore`. */
  restoreSnapshot: {
    input: {
      path: {
        vmId: string
        id: string
      }
    }
    data: ActionStarted
  }
  /** List the backups of a VM, newest first. Needs the scope `backups:read`. */
  listBackups: {
    input: {
      path: {
        vmId: string
      }
      query?: {
        page?: number | undefined
        limit?: number | undefined
      } | undefined
    }
    data: Backup[]
    paged: true
  }
  /** Make a backup of a VM. Needs the scope `backups:create`. */
  createBackup: {
    input: {
      path: {
        vmId: string
      }
      body: CreateBackup
    }
    data: BackupCreated
  }
  /** Get a backup. Needs the scope `backups:read`. */
  getBackup: {
    input: {
      path: {
        vmId: string
        id: string
      }
    }
    data: Backup
  }
  /** Delete a backup. It reads DELETING until its data is gone; one that is being made is stopped. Needs the scope `backups:delete`. */
  deleteBackup: {
    input: {
      path: {
        vmId: string
        id: string
      }
    }
    data: BackupDeleted
  }
  /** Put a VM back to the moment of a backup; what was written since is lost. Needs the scope `backups:restore`. */
  restoreBackup: {
    input: {
      path: {
        vmId: string
        id: string
      }
      body?: RestoreBackup | undefined
    }
    data: ActionStarted
  }
  /** Say which rule would decide about a packet. Needs the scope `firewalls:read`. */
  checkPacket: {
    input: {
      path: {
        id: string
      }
      body: CheckPacket
    }
    data: FirewallVerdict
  }
  /** Get the traffic of all VMs in their billing month. Needs the scope `bandwidth:read`. */
  listBandwidth: {
    input: Record<string, never>
    data: BandwidthUsage[]
  }
  /** List the bandwidth packs bought for a VM, newest first. Needs the scope `bandwidth:read`. */
  listBandwidthPacks: {
    input: {
      path: {
        vmId: string
      }
      query?: {
        page?: number | undefined
        limit?: number | undefined
      } | undefined
    }
    data: Transaction[]
    paged: true
  }
  /** Buy traffic for the rest of the billing month. Needs the scope `bandwidth:create`. */
  buyBandwidthPack: {
    input: {
      path: {
        vmId: string
      }
      query?: {
        /** Validate, place and price, but change nothing */
        dryRun?: boolean | undefined
      } | undefined
      body: BuyBandwidthPack
    }
    data: Quote | Transaction
  }
  /** List webhooks, newest first. Needs the scope `webhooks:read`. */
  listWebhooks: {
    input: {
      query?: {
        page?: number | undefined
        limit?: number | undefined
      } | undefined
    }
    data: Webhook[]
    paged: true
  }
  /** Subscribe a URL to events. The secret is shown this once. Needs the scope `webhooks:create`. */
  createWebhook: {
    input: {
      body: {
        /** An https URL with a public host */
        url: string
        /** What to be told of; a name given twice counts once */
        events: Array<'vm.created' | 'vm.started' | 'vm.stopped' | 'vm.restarted' | 'vm.suspended' | 'vm.terminated' | 'vm.renewed' | 'billing.payment_received' | 'billing.low_balance' | 'ticket.reply'>
        description?: string | undefined
      }
    }
    data: WebhookWithSecret
  }
  /** Get a webhook. Needs the scope `webhooks:read`. */
  getWebhook: {
    input: {
      path: {
        id: string
      }
    }
    data: Webhook
  }
  /** Change a webhook, or switch it off and on. Needs the scope `webhooks:update`. */
  updateWebhook: {
    input: {
      path: {
        id: string
      }
      body: {
        /** An https URL with a public host */
        url?: string | undefined
        /** What to be told of; a name given twice counts once */
        events?: Array<'vm.created' | 'vm.started' | 'vm.stopped' | 'vm.restarted' | 'vm.suspended' | 'vm.terminated' | 'vm.renewed' | 'billing.payment_received' | 'billing.low_balance' | 'ticket.reply'> | undefined
        description?: string | undefined
        /** true begins anew with a failCount of 0; false cancels what is still to be sent */
        isActive?: boolean | undefined
      }
    }
    data: Webhook
  }
  /** Delete a webhook and its delivery log. Needs the scope `webhooks:delete`. */
  deleteWebhook: {
    input: {
      path: {
        id: string
      }
    }
    data: {
      id: string
    }
  }
  /** Send a test event now and tell what came of it. Needs the scope `webhooks:update`. */
  testWebhook: {
    input: {
      path: {
        id: string
      }
    }
    data: {
      /** Whether the receiver took the test event, and if not, why */
      message: string
    }
  }
  /** Make a new secret, shown this once. Messages carry the signature of the old one too for 24 hours. Needs the scope `webhooks:update`. */
  rotateWebhookSecret: {
    input: {
      path: {
        id: string
      }
    }
    data: WebhookWithSecret
  }
  /** List the deliveries of the last 30 days, newest first. Needs the scope `webhooks:read`. */
  listWebhookDeliveries: {
    input: {
      path: {
        id: string
      }
      query?: {
        page?: number | undefined
        limit?: number | undefined
        status?: 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED' | undefined
      } | undefined
    }
    data: WebhookDelivery[]
    paged: true
  }
  /** Get a delivery with every attempt: request, response, latency. Needs the scope `webhooks:read`. */
  getWebhookDelivery: {
    input: {
      path: {
        id: string
        deliveryId: string
      }
    }
    data: WebhookDeliveryLog
  }
  /** Deliver again, under the same webhook-id and with all attempts anew. Needs the scope `webhooks:update`. */
  redeliverWebhookDelivery: {
    input: {
      path: {
        id: string
        deliveryId: string
      }
    }
    data: WebhookDelivery
  }
  /** List tickets, newest first. Needs the scope `tickets:read`. */
  listTickets: {
    input: {
      query?: {
        page?: number | undefined
        limit?: number | undefined
        status?: 'OPEN' | 'ANSWERED' | 'CLOSED' | undefined
      } | undefined
    }
    data: Ticket[]
    paged: true
  }
  /** Ask support something. Needs the scope `tickets:create`. */
  createTicket: {
    input: {
      body: {
        /** must be 1-200 characters on one line */
        subject: string
        /** Plain text: nothing in it is ever read as markup */
        body: string
      }
    }
    data: TicketWithReplies
  }
  /** Get a ticket with its replies. Needs the scope `tickets:read`. */
  getTicket: {
    input: {
      path: {
        id: string
      }
    }
    data: TicketWithReplies
  }
  /** Add to a ticket; a closed one is open again. Needs the scope `tickets:create`. */
  replyToTicket: {
    input: {
      path: {
        id: string
      }
      body: {
        /** Plain text: nothing in it is ever read as markup */
        body: string
      }
    }
    data: TicketReply
  }
}

export const OPERATIONS = {
  listRegions: { method: 'GET', path: '/regions' },
  listPlans: { method: 'GET', path: '/plans' },
  listOsTemplates: { method: 'GET', path: '/os-templates' },
  getOsTemplate: { method: 'GET', path: '/os-templates/{slug}' },
  getAccount: { method: 'GET', path: '/account' },
  listAccountLimits: { method: 'GET', path: '/account/limits' },
  getAction: { method: 'GET', path: '/vms/{id}/actions/{actionId}' },
  listVmActions: { method: 'GET', path: '/vms/{id}/actions' },
  listActions: { method: 'GET', path: '/actions' },
  listEvents: { method: 'GET', path: '/events' },
  getWallet: { method: 'GET', path: '/wallet' },
  listWalletTransactions: { method: 'GET', path: '/wallet/transactions' },
  createDeposit: { method: 'POST', path: '/wallet/deposits' },
  listDeposits: { method: 'GET', path: '/wallet/deposits' },
  getDeposit: { method: 'GET', path: '/wallet/deposits/{id}' },
  listInvoices: { method: 'GET', path: '/invoices' },
  getInvoice: { method: 'GET', path: '/invoices/{id}' },
  listAuditLog: { method: 'GET', path: '/audit-log' },
  listNodes: { method: 'GET', path: '/regions/{id}/nodes' },
  listSshKeys: { method: 'GET', path: '/ssh-keys' },
  createSshKey: { method: 'POST', path: '/ssh-keys' },
  getSshKey: { method: 'GET', path: '/ssh-keys/{id}' },
  renameSshKey: { method: 'PATCH', path: '/ssh-keys/{id}' },
  deleteSshKey: { method: 'DELETE', path: '/ssh-keys/{id}' },
  listNetworks: { method: 'GET', path: '/networks' },
  createNetwork: { method: 'POST', path: '/networks' },
  getNetwork: { method: 'GET', path: '/networks/{id}' },
  renameNetwork: { method: 'PATCH', path: '/networks/{id}' },
  deleteNetwork: { method: 'DELETE', path: '/networks/{id}' },
  listFirewalls: { method: 'GET', path: '/firewalls' },
  createFirewall: { method: 'POST', path: '/firewalls' },
  getFirewall: { method: 'GET', path: '/firewalls/{id}' },
  changeFirewall: { method: 'PATCH', path: '/firewalls/{id}' },
  deleteFirewall: { method: 'DELETE', path: '/firewalls/{id}' },
  listFirewallRules: { method: 'GET', path: '/firewalls/{id}/rules' },
  addFirewallRule: { method: 'POST', path: '/firewalls/{id}/rules' },
  replaceFirewallRules: { method: 'PUT', path: '/firewalls/{id}/rules' },
  getFirewallRule: { method: 'GET', path: '/firewalls/{id}/rules/{ruleId}' },
  changeFirewallRule: { method: 'PATCH', path: '/firewalls/{id}/rules/{ruleId}' },
  deleteFirewallRule: { method: 'DELETE', path: '/firewalls/{id}/rules/{ruleId}' },
  listFirewallBindings: { method: 'GET', path: '/firewalls/{id}/bindings' },
  bindFirewall: { method: 'POST', path: '/firewalls/{id}/bindings' },
  getFirewallBinding: { method: 'GET', path: '/firewalls/{id}/bindings/{vmId}' },
  unbindFirewall: { method: 'DELETE', path: '/firewalls/{id}/bindings/{vmId}' },
  createVm: { method: 'POST', path: '/vms' },
  listVms: { method: 'GET', path: '/vms' },
  getVm: { method: 'GET', path: '/vms/{id}' },
  updateVm: { method: 'PATCH', path: '/vms/{id}' },
  deleteVm: { method: 'DELETE', path: '/vms/{id}' },
  startVm: { method: 'POST', path: '/vms/{id}/start' },
  stopVm: { method: 'POST', path: '/vms/{id}/stop' },
  restartVm: { method: 'POST', path: '/vms/{id}/restart' },
  upgradeVm: { method: 'POST', path: '/vms/{id}/upgrade' },
  rebuildVm: { method: 'POST', path: '/vms/{id}/rebuild' },
  setVmPassword: { method: 'POST', path: '/vms/{id}/password' },
  attachNetwork: { method: 'POST', path: '/vms/{id}/networks' },
  detachNetwork: { method: 'DELETE', path: '/vms/{id}/networks/{networkId}' },
  openConsole: { method: 'POST', path: '/vms/{id}/console' },
  getVmMetrics: { method: 'GET', path: '/vms/{id}/metrics' },
  createSnapshot: { method: 'POST', path: '/vms/{vmId}/snapshots' },
  listSnapshots: { method: 'GET', path: '/vms/{vmId}/snapshots' },
  getSnapshot: { method: 'GET', path: '/vms/{vmId}/snapshots/{id}' },
  deleteSnapshot: { method: 'DELETE', path: '/vms/{vmId}/snapshots/{id}' },
  restoreSnapshot: { method: 'POST', path: '/vms/{vmId}/snapshots/{id}/restore' },
  listBackups: { method: 'GET', path: '/vms/{vmId}/backups' },
  createBackup: { method: 'POST', path: '/vms/{vmId}/backups' },
  getBackup: { method: 'GET', path: '/vms/{vmId}/backups/{id}' },
  deleteBackup: { method: 'DELETE', path: '/vms/{vmId}/backups/{id}' },
  restoreBackup: { method: 'POST', path: '/vms/{vmId}/backups/{id}/restore' },
  checkPacket: { method: 'POST', path: '/firewalls/{id}/check' },
  listBandwidth: { method: 'GET', path: '/bandwidth' },
  listBandwidthPacks: { method: 'GET', path: '/vms/{vmId}/bandwidth/packs' },
  buyBandwidthPack: { method: 'POST', path: '/vms/{vmId}/bandwidth/packs' },
  listWebhooks: { method: 'GET', path: '/webhooks' },
  createWebhook: { method: 'POST', path: '/webhooks' },
  getWebhook: { method: 'GET', path: '/webhooks/{id}' },
  updateWebhook: { method: 'PATCH', path: '/webhooks/{id}' },
  deleteWebhook: { method: 'DELETE', path: '/webhooks/{id}' },
  testWebhook: { method: 'POST', path: '/webhooks/{id}/test' },
  rotateWebhookSecret: { method: 'POST', path: '/webhooks/{id}/rotate-secret' },
  listWebhookDeliveries: { method: 'GET', path: '/webhooks/{id}/deliveries' },
  getWebhookDelivery: { method: 'GET', path: '/webhooks/{id}/deliveries/{deliveryId}' },
  redeliverWebhookDelivery: { method: 'POST', path: '/webhooks/{id}/deliveries/{deliveryId}/redeliver' },
  listTickets: { method: 'GET', path: '/tickets' },
  createTicket: { method: 'POST', path: '/tickets' },
  getTicket: { method: 'GET', path: '/tickets/{id}' },
  replyToTicket: { method: 'POST', path: '/tickets/{id}/replies' },
} as const
