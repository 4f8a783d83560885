// The command of every operation, given what the server's own table has arranged for it.

interface Typed {
  args: string[]
  stdin?: string
}

type Params = Record<string, string>
type Body = Record<string, unknown>

const typed =
  (...words: string[]) =>
  (params: Params, body: Body): Typed => ({
    args: words.map((word) => (word.startsWith(':') ? params[word.slice(1)]! : word.startsWith('=') ? textOf(body[word.slice(1)]) : word)),
  })

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** `:id` is a parameter of the path, `=name` a field of the body. */
export const COMMANDS: Record<string, (params: Params, body: Body) => Typed> = {
  listRegions: typed('region', 'list'),
  listNodes: typed('region', 'nodes', ':id'),
  listPlans: typed('plan', 'list'),
  listOsTemplates: typed('os', 'list'),
  getOsTemplate: typed('os', 'get', ':slug'),

  getAccount: typed('account', 'show'),
  listAccountLimits: typed('account', 'limits'),
  listAuditLog: typed('account', 'audit'),

  listActions: typed('action', 'list'),
  listVmActions: typed('vm', 'actions', ':id'),
  getAction: typed('action', 'get', ':id', ':actionId'),

  getWallet: typed('wallet', 'show'),
  listWalletTransactions: typed('wallet', 'transactions'),
  createDeposit: typed('wallet', 'deposit', '=amount'),
  listDeposits: typed('wallet', 'deposits'),
  getDeposit: typed('wallet', 'deposit-status', ':id'),
  listInvoices: typed('invoice', 'list'),
  getInvoice: typed('invoice', 'get', ':id'),

  listSshKeys: typed('key', 'list'),
  createSshKey: typed('key', 'add', '=name', '=publicKey'),
  getSshKey: typed('key', 'get', ':id'),
  renameSshKey: typed('key', 'rename', ':id', '=name'),
  deleteSshKey: typed('key', 'delete', ':id'),

  listNetworks: typed('network', 'list'),
  createNetwork: typed('network', 'create', '=name', '--cidr', '=cidr', '--region', '=nodeId'),
  getNetwork: typed('network', 'get', ':id'),
  renameNetwork: typed('network', 'rename', ':id', '=name'),
  deleteNetwork: typed('network', 'delete', ':id'),

  listFirewalls: typed('firewall', 'list'),
  createFirewall: typed('firewall', 'create', '=name'),
  getFirewall: typed('firewall', 'get', ':id'),
  changeFirewall: typed('firewall', 'update', ':id', '--name', '=name'),
  deleteFirewall: typed('firewall', 'delete', ':id'),
  listFirewallRules: typed('firewall', 'rule', 'list', ':id'),
  addFirewallRule: typed('firewall', 'rule', 'add', ':id', '--port', '=port'),
  replaceFirewallRules: typed('firewall', 'rule', 'replace', ':id', '--rules', '=rules'),
  getFirewallRule: typed('firewall', 'rule', 'get', ':id', ':ruleId'),
  changeFirewallRule: typed('firewall', 'rule', 'update', ':id', '1', '--port', '=port'),
  deleteFirewallRule: typed('firewall', 'rule', 'delete', ':id', ':ruleId'),
  listFirewallBindings: typed('firewall', 'bindings', ':id'),
  getFirewallBinding: typed('firewall', 'binding', ':id', ':vmId'),
  bindFirewall: typed('firewall', 'bind', ':id', '=vmId'),
  unbindFirewall: typed('firewall', 'unbind', ':id', ':vmId'),
  checkPacket: typed('firewall', 'check', ':id', '=vmId', '--port', '22', '--from', '=address'),

  createVm: (_, body) => ({
    args: ['vm', 'create', 'web-1', '--region', textOf(body['regionId']), '--os', 'debian-12', '--plan', 'small'].concat([
      '--key',
      'key',
      '--firewall',
      'fw',
      '--network',
      'net',
      '--daily-backups',
      '--no-wait',
    ]),
  }),
  listVms: typed('vm', 'list'),
  getVm: typed('vm', 'get', 'web-1'),
  updateVm: typed('vm', 'rename', ':id', '=name'),
  deleteVm: typed('vm', 'delete', ':id', '--no-wait'),
  startVm: typed('vm', 'start', ':id', '--no-wait'),
  stopVm: typed('vm', 'stop', ':id', '--force', '--no-wait'),
  restartVm: typed('vm', 'restart', ':id', '--no-wait'),
  upgradeVm: typed('vm', 'upgrade', ':id', '--plan', 'large', '--no-wait'),
  rebuildVm: typed('vm', 'rebuild', ':id', '--os', 'debian-12', '--key', 'key', '--no-wait'),
  setVmPassword: (params) => ({ args: ['vm', 'password', params['id']!, '--no-wait'], stdin: 'a new password\n' }),
  attachNetwork: typed('network', 'attach', '=networkId', 'web-1', '--no-wait'),
  detachNetwork: typed('network', 'detach', ':networkId', 'web-1', '--no-wait'),
  openConsole: typed('vm', 'console', ':id', '--url'),
  getVmMetrics: typed('vm', 'metrics', ':id'),

  listSnapshots: typed('snapshot', 'list', ':vmId'),
  createSnapshot: typed('snapshot', 'create', ':vmId', '=name', '--no-wait'),
  getSnapshot: typed('snapshot', 'get', ':vmId', 'snapshot'),
  restoreSnapshot: typed('snapshot', 'restore', ':vmId', ':id', '--no-wait'),
  deleteSnapshot: typed('snapshot', 'delete', ':vmId', ':id', '--no-wait'),

  listBackups: typed('backup', 'list', ':vmId'),
  createBackup: typed('backup', 'create', ':vmId', '=name', '--no-wait'),
  getBackup: typed('backup', 'get', ':vmId', 'backup'),
  restoreBackup: typed('backup', 'restore', ':vmId', ':id', '--no-wait'),
  deleteBackup: typed('backup', 'delete', ':vmId', ':id'),

  listBandwidth: typed('bandwidth', 'list'),
  listBandwidthPacks: typed('bandwidth', 'packs', ':vmId'),
  buyBandwidthPack: typed('bandwidth', 'buy', ':vmId', '=gigabytes'),

  listEvents: typed('event', 'list'),
  listWebhooks: typed('webhook', 'list'),
  createWebhook: typed('webhook', 'create', '=url'),
  getWebhook: typed('webhook', 'get', 'http://127.0.0.1:9/'),
  updateWebhook: typed('webhook', 'update', ':id', '--description', '=description'),
  deleteWebhook: typed('webhook', 'delete', ':id'),
  testWebhook: typed('webhook', 'test', ':id'),
  rotateWebhookSecret: typed('webhook', 'rotate-secret', ':id'),
  listWebhookDeliveries: typed('webhook', 'deliveries', ':id'),
  getWebhookDelivery: typed('webhook', 'delivery', ':id', ':deliveryId'),
  redeliverWebhookDelivery: typed('webhook', 'redeliver', ':id', ':deliveryId'),

  listTickets: typed('ticket', 'list'),
  createTicket: typed('ticket', 'create', '=subject', '=body'),
  getTicket: typed('ticket', 'get', ':id'),
  replyToTicket: typed('ticket', 'reply', ':id', '=body'),
}
