import { Api, type Query, type RawRequest } from './api.ts'
import type { Action, SearchResult } from './generated/openapi.ts'
import type { CallOptions, ClientOptions } from './options.ts'
import { Account } from './resources/account.ts'
import { Actions } from './resources/actions.ts'
import { Alerts } from './resources/alerts.ts'
import { Addresses } from './resources/addresses.ts'
import { Backups } from './resources/backups.ts'
import { Bandwidth } from './resources/bandwidth.ts'
import { OsTemplates, Plans, Regions } from './resources/catalog.ts'
import { Events } from './resources/events.ts'
import { Firewalls } from './resources/firewalls.ts'
import { Images } from './resources/images.ts'
import { Announcements } from './resources/announcements.ts'
import { Maintenances } from './resources/maintenances.ts'
import { Invitations, Members } from './resources/members.ts'
import { Networks } from './resources/networks.ts'
import { Deposits, Invoices } from './resources/payments.ts'
import { Projects } from './resources/projects.ts'
import { Snapshots } from './resources/snapshots.ts'
import { PlacementGroups } from './resources/placement-groups.ts'
import { SshKeys } from './resources/ssh-keys.ts'
import { Tickets } from './resources/tickets.ts'
import { Tokens } from './resources/tokens.ts'
import { Vms } from './resources/vms.ts'
import { VolumeSnapshots } from './resources/volume-snapshots.ts'
import { Volumes } from './resources/volumes.ts'
import { Wallet } from './resources/wallet.ts'
import { Webhooks } from './resources/webhooks.ts'
import { waitForAction, type ActionReference, type WaitOptions } from './wait-for-action.ts'

/** Client for one server and one token. It holds no connection and need not be closed. */
export class Berth {
  readonly account: Account
  readonly actions: Actions
  readonly addresses: Addresses
  readonly alerts: Alerts
  readonly backups: Backups
  readonly bandwidth: Bandwidth
  readonly deposits: Deposits
  readonly events: Events
  readonly firewalls: Firewalls
  readonly images: Images
  readonly invitations: Invitations
  readonly invoices: Invoices
  readonly announcements: Announcements
  readonly maintenances: Maintenances
  readonly members: Members
  readonly networks: Networks
  readonly osTemplates: OsTemplates
  readonly plans: Plans
  readonly projects: Projects
  readonly regions: Regions
  readonly snapshots: Snapshots
  readonly sshKeys: SshKeys
  readonly placementGroups: PlacementGroups
  readonly tickets: Tickets
  readonly tokens: Tokens
  readonly vms: Vms
  readonly volumes: Volumes
  readonly volumeSnapshots: VolumeSnapshots
  readonly wallet: Wallet
  readonly webhooks: Webhooks
  readonly #api: Api

  constructor(options: ClientOptions) {
    const api = new Api(options)
    this.#api = api
    this.account = new Account(api)
    this.actions = new Actions(api)
    this.addresses = new Addresses(api)
    this.alerts = new Alerts(api)
    this.backups = new Backups(api)
    this.bandwidth = new Bandwidth(api)
    this.deposits = new Deposits(api)
    this.events = new Events(api)
    this.firewalls = new Firewalls(api)
    this.images = new Images(api)
    this.invitations = new Invitations(api)
    this.invoices = new Invoices(api)
    this.announcements = new Announcements(api)
    this.maintenances = new Maintenances(api)
    this.members = new Members(api)
    this.networks = new Networks(api)
    this.osTemplates = new OsTemplates(api)
    this.plans = new Plans(api)
    this.projects = new Projects(api)
    this.regions = new Regions(api)
    this.snapshots = new Snapshots(api)
    this.sshKeys = new SshKeys(api)
    this.placementGroups = new PlacementGroups(api)
    this.tickets = new Tickets(api)
    this.tokens = new Tokens(api)
    this.vms = new Vms(api)
    this.volumes = new Volumes(api)
    this.volumeSnapshots = new VolumeSnapshots(api)
    this.wallet = new Wallet(api)
    this.webhooks = new Webhooks(api)
  }

  /** Resolves with the completed action. Throws ActionFailedError if it failed or was cancelled, ActionTimeoutError if it is still running. */
  waitForAction(action: ActionReference, options?: WaitOptions): Promise<Action> {
    return waitForAction(this.#api, action, options)
  }

  /** What the account has by name, id, address or label, the closest first; only kinds that the token may read. */
  search(q: string, query?: Omit<Query<'search'>, 'q'>, options?: CallOptions): Promise<SearchResult[]> {
    return this.#api.call('search', { query: { q, ...query } }, options)
  }

  /** Calls any endpoint with the same retries, idempotency keys and errors, for endpoints without a method here. Returns `data`. */
  async request(request: RawRequest, options?: CallOptions): Promise<unknown> {
    return (await this.#api.request(request, options)).data
  }
}
