// The command line of every API operation, built from the parameters and body that the server's endpoint table provides.

interface CommandLine {
  args: string[]
  stdin?: string
}

type Params = Record<string, string>
type Body = Record<string, unknown>

const commandLine =
  (...words: string[]) =>
  (params: Params, body: Body): CommandLine => ({
    args: words.map((word) => (word.startsWith(':') ? params[word.slice(1)]! : word.startsWith('=') ? textOf(body[word.slice(1)]) : word)),
  })

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** `:id` is a path parameter, `=name` a body field. */
export const COMMANDS: Record<string, (params: Params, body: Body) => CommandLine> = {
  listRegions: commandLine('region', 'list'),
  listNodes: commandLine('region', 'nodes', ':id'),
  listPlans: commandLine('plan', 'list'),
  listAvailability: commandLine('plan', 'availability'),
  listOsTemplates: commandLine('os', 'list'),
  getOsTemplate: commandLine('os', 'get', ':slug'),

  search: commandLine('search', 'key'),

  getAccount: commandLine('account', 'show'),
  updateAccount: commandLine('account', 'update', '--name', '=name'),
  listMembers: commandLine('member', 'list'),
  updateMember: commandLine('member', 'update', ':id', '--role', '=role', '--scope', 'vms:read', '--budget', '50.00'),
  deleteMember: commandLine('member', 'delete', ':id'),
  listInvitations: commandLine('invitation', 'list'),
  createInvitation: commandLine('invitation', 'create', '=email', '--role', '=role', '--scope', 'vms:read', '--max-vms', '5'),
  deleteInvitation: commandLine('invitation', 'delete', ':id'),
  listAccountLimits: commandLine('account', 'limits'),
  listAuditLog: commandLine('account', 'audit'),

  listActions: commandLine('action', 'list'),
  listVmActions: commandLine('vm', 'actions', ':id'),
  getAction: commandLine('action', 'get', ':id', ':actionId'),

  getWallet: commandLine('wallet', 'show'),
  listWalletTransactions: commandLine('wallet', 'transactions'),
  createDeposit: commandLine('wallet', 'deposit', '=amount'),
  listDeposits: commandLine('wallet', 'deposits'),
  getDeposit: commandLine('wallet', 'deposit-status', ':id'),
  listInvoices: commandLine('invoice', 'list'),
  getInvoice: commandLine('invoice', 'get', ':id'),

  listAlerts: commandLine('alert', 'list'),
  createAlert: (_, { name, metric, threshold }) => ({
    args: ['alert', 'create', textOf(name), '--when', `${textOf(metric)} > ${textOf(threshold)}`],
  }),
  getAlert: commandLine('alert', 'get', ':id'),
  updateAlert: ({ id }, { threshold }) => ({ args: ['alert', 'update', id!, '--when', `> ${textOf(threshold)}`] }),
  deleteAlert: commandLine('alert', 'delete', ':id'),

  listAnnouncements: commandLine('announcement', 'list'),
  listMaintenances: commandLine('maintenance', 'list'),

  listSshKeys: commandLine('key', 'list'),
  createSshKey: commandLine('key', 'add', '=name', '=publicKey'),
  getSshKey: commandLine('key', 'get', ':id'),
  renameSshKey: commandLine('key', 'rename', ':id', '=name'),
  deleteSshKey: commandLine('key', 'delete', ':id'),

  listTokens: commandLine('token', 'list'),
  createToken: commandLine('token', 'create', '=name', '--scope', 'vms:read'),
  getToken: commandLine('token', 'get', ':id'),
  updateToken: commandLine('token', 'update', ':id', '--name', '=name'),
  revokeToken: commandLine('token', 'revoke', ':id'),

  listPlacementGroups: commandLine('placement-group', 'list'),
  createPlacementGroup: commandLine('placement-group', 'create', '=name', '--policy', '=policy'),
  getPlacementGroup: commandLine('placement-group', 'get', ':id'),
  renamePlacementGroup: commandLine('placement-group', 'rename', ':id', '=name'),
  deletePlacementGroup: commandLine('placement-group', 'delete', ':id'),

  listProjects: commandLine('project', 'list'),
  createProject: commandLine('project', 'create', '=name'),
  getProject: commandLine('project', 'get', ':id'),
  updateProject: commandLine('project', 'update', ':id', '--name', '=name', '--budget', '50.00'),
  deleteProject: commandLine('project', 'delete', ':id'),

  listNetworks: commandLine('network', 'list'),
  createNetwork: commandLine('network', 'create', '=name', '--cidr', '=cidr', '--region', '=nodeId'),
  getNetwork: commandLine('network', 'get', ':id'),
  renameNetwork: commandLine('network', 'rename', ':id', '=name'),
  deleteNetwork: commandLine('network', 'delete', ':id'),
  listNetworkAttachments: commandLine('network', 'vms', ':id'),
  listNetworkRoutes: commandLine('network', 'route', 'list', ':id'),
  createNetworkRoute: commandLine('network', 'route', 'add', ':id', '=destination', '--via', '=nextHop'),
  getNetworkRoute: commandLine('network', 'route', 'get', ':id', ':routeId'),
  deleteNetworkRoute: commandLine('network', 'route', 'delete', ':id', ':routeId'),
  listNetworkPeerings: commandLine('network', 'peering', 'list', ':id'),
  createNetworkPeering: commandLine('network', 'peering', 'add', ':id', '=networkId'),
  getNetworkPeering: commandLine('network', 'peering', 'get', ':id', ':peeringId'),
  deleteNetworkPeering: commandLine('network', 'peering', 'delete', ':id', ':peeringId'),

  listImages: commandLine('image', 'list'),
  createImage: commandLine('image', 'create', '=name', '--vm', '=vmId', '--no-wait'),
  getImage: commandLine('image', 'get', ':id'),
  updateImage: commandLine('image', 'update', ':id', '--name', '=name'),
  deleteImage: commandLine('image', 'delete', ':id'),
  listAddresses: commandLine('address', 'list'),
  reserveAddress: commandLine('address', 'reserve', '--region', '=regionId'),
  getAddress: commandLine('address', 'get', ':id'),
  updateAddress: commandLine('address', 'update', ':id', '--name', '=name'),
  releaseAddress: commandLine('address', 'release', ':id'),
  assignAddress: commandLine('address', 'assign', ':id', '=vmId', '--no-wait'),
  unassignAddress: commandLine('address', 'unassign', ':id', '--no-wait'),

  listVolumes: commandLine('volume', 'list'),
  createVolume: commandLine('volume', 'create', '=name', '--size', '10', '--region', '=regionId'),
  getVolume: commandLine('volume', 'get', ':id'),
  updateVolume: commandLine('volume', 'update', ':id', '--name', '=name'),
  deleteVolume: commandLine('volume', 'delete', ':id'),
  attachVolume: commandLine('volume', 'attach', ':id', '=vmId', '--no-wait'),
  detachVolume: commandLine('volume', 'detach', ':id', '--no-wait'),
  listVolumeSnapshots: commandLine('volume', 'snapshot', 'list', ':volumeId'),
  createVolumeSnapshot: commandLine('volume', 'snapshot', 'create', ':volumeId', '=name', '--no-wait'),
  getVolumeSnapshot: commandLine('volume', 'snapshot', 'get', ':volumeId', ':id'),
  updateVolumeSnapshot: (params) => ({ args: ['label', 'volume-snapshot', `${params['volumeId']}/${params['id']}`, 'env=prod'] }),
  restoreVolumeSnapshot: commandLine('volume', 'snapshot', 'restore', ':volumeId', ':id', '--no-wait'),
  deleteVolumeSnapshot: commandLine('volume', 'snapshot', 'delete', ':volumeId', ':id', '--no-wait'),

  listFirewalls: commandLine('firewall', 'list'),
  createFirewall: commandLine('firewall', 'create', '=name'),
  getFirewall: commandLine('firewall', 'get', ':id'),
  changeFirewall: commandLine('firewall', 'update', ':id', '--name', '=name'),
  deleteFirewall: commandLine('firewall', 'delete', ':id'),
  listFirewallRules: commandLine('firewall', 'rule', 'list', ':id'),
  addFirewallRule: commandLine('firewall', 'rule', 'add', ':id', '--port', '=port'),
  replaceFirewallRules: commandLine('firewall', 'rule', 'replace', ':id', '--rules', '=rules'),
  undoFirewallRules: commandLine('firewall', 'undo', ':id'),
  confirmFirewallRules: commandLine('firewall', 'confirm', ':id'),
  getFirewallRule: commandLine('firewall', 'rule', 'get', ':id', ':ruleId'),
  changeFirewallRule: commandLine('firewall', 'rule', 'update', ':id', '1', '--port', '=port'),
  deleteFirewallRule: commandLine('firewall', 'rule', 'delete', ':id', ':ruleId'),
  listFirewallBindings: commandLine('firewall', 'bindings', ':id'),
  getFirewallBinding: commandLine('firewall', 'binding', ':id', ':vmId'),
  bindFirewall: commandLine('firewall', 'bind', ':id', '=vmId'),
  unbindFirewall: commandLine('firewall', 'unbind', ':id', ':vmId'),
  checkPacket: commandLine('firewall', 'check', ':id', '=vmId', '--port', '22', '--from', '=address'),

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
  listVms: commandLine('vm', 'list'),
  getVm: commandLine('vm', 'get', 'web-1'),
  updateVm: commandLine('vm', 'rename', ':id', '=name'),
  deleteVm: commandLine('vm', 'delete', ':id', '--no-wait'),
  startVm: commandLine('vm', 'start', ':id', '--no-wait'),
  stopVm: commandLine('vm', 'stop', ':id', '--force', '--no-wait'),
  restartVm: commandLine('vm', 'restart', ':id', '--no-wait'),
  resizeVm: commandLine('vm', 'resize', ':id', '--disk', '=disk', '--no-wait'),
  upgradeVm: commandLine('vm', 'upgrade', ':id', '--plan', 'large', '--no-wait'),
  shelveVm: commandLine('vm', 'shelve', ':id', '--no-wait'),
  unshelveVm: commandLine('vm', 'unshelve', ':id', '--no-wait'),
  rescueVm: commandLine('vm', 'rescue', ':id', '--key', 'key', '--no-wait'),
  unrescueVm: commandLine('vm', 'rescue', ':id', '--end', '--no-wait'),
  attachIso: commandLine('vm', 'iso', 'attach', ':id', '=imageId', '--no-wait'),
  detachIso: commandLine('vm', 'iso', 'detach', ':id', '--no-wait'),
  rebuildVm: commandLine('vm', 'rebuild', ':id', '--os', 'debian-12', '--key', 'key', '--no-wait'),
  setVmPassword: (params) => ({ args: ['vm', 'password', params['id']!, '--no-wait'], stdin: 'a new password\n' }),
  checkReach: commandLine('vm', 'reach', ':id', '=to', '--port', '22'),
  attachNetwork: commandLine('network', 'attach', '=networkId', 'web-1', '--no-wait'),
  detachNetwork: commandLine('network', 'detach', ':networkId', 'web-1', '--no-wait'),
  openConsole: commandLine('vm', 'console', ':id', '--url'),
  getVmMetrics: commandLine('vm', 'metrics', ':id'),

  startBulkAction: commandLine('vm', 'bulk', 'stop', '--selector', '=labelSelector', '--no-wait', '--yes'),

  listSnapshots: commandLine('snapshot', 'list', ':vmId'),
  createSnapshot: commandLine('snapshot', 'create', ':vmId', '=name', '--no-wait'),
  getSnapshot: commandLine('snapshot', 'get', ':vmId', 'snapshot'),
  updateSnapshot: (params) => ({ args: ['label', 'snapshot', `${params['vmId']}/${params['id']}`, 'env=prod'] }),
  restoreSnapshot: commandLine('snapshot', 'restore', ':vmId', ':id', '--no-wait'),
  deleteSnapshot: commandLine('snapshot', 'delete', ':vmId', ':id', '--no-wait'),

  listBackups: commandLine('backup', 'list', ':vmId'),
  createBackup: commandLine('backup', 'create', ':vmId', '=name', '--no-wait'),
  getBackup: commandLine('backup', 'get', ':vmId', 'backup'),
  getBackupScreenshot: commandLine('backup', 'screenshot', ':vmId', ':id', '/dev/null'),
  updateBackup: (params) => ({ args: ['label', 'backup', `${params['vmId']}/${params['id']}`, 'env=prod'] }),
  restoreBackup: commandLine('backup', 'restore', ':vmId', ':id', '--no-wait'),
  deleteBackup: commandLine('backup', 'delete', ':vmId', ':id'),

  listBandwidth: commandLine('bandwidth', 'list'),
  listBandwidthPacks: commandLine('bandwidth', 'packs', ':vmId'),
  buyBandwidthPack: commandLine('bandwidth', 'buy', ':vmId', '=gigabytes'),

  listEvents: commandLine('event', 'list'),
  listWebhooks: commandLine('webhook', 'list'),
  createWebhook: commandLine('webhook', 'create', '=url'),
  getWebhook: commandLine('webhook', 'get', 'http://127.0.0.1:9/'),
  updateWebhook: commandLine('webhook', 'update', ':id', '--description', '=description'),
  deleteWebhook: commandLine('webhook', 'delete', ':id'),
  testWebhook: commandLine('webhook', 'test', ':id'),
  rotateWebhookSecret: commandLine('webhook', 'rotate-secret', ':id'),
  listWebhookDeliveries: commandLine('webhook', 'deliveries', ':id'),
  getWebhookDelivery: commandLine('webhook', 'delivery', ':id', ':deliveryId'),
  redeliverWebhookDelivery: commandLine('webhook', 'redeliver', ':id', ':deliveryId'),

  listTickets: commandLine('ticket', 'list'),
  createTicket: commandLine('ticket', 'create', '=subject', '=body'),
  getTicket: commandLine('ticket', 'get', ':id'),
  replyToTicket: commandLine('ticket', 'reply', ':id', '=body'),
}
