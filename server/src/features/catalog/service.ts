import type { Queries, Tx } from '../../kernel/database/db.ts'
import { invalid, notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { parseCents, type Cents } from '../../kernel/money.ts'
import type { OsTemplate, Plan, Region } from './schema.ts'
import * as sql from './sql.ts'
import { toOsTemplate, toPlan, toRegion } from './view.ts'

export { withdrawTemplate, publishImage, addTemplate, templateForArch, type NewImage, type TemplateDraft } from './images.ts'
export { isBeingBuilt, noteBuilding, noteBuilt } from './images-being-built.ts'
export type { RegionRow, TemplateRow } from './sql.ts'

export const listRegions = async (db: Queries): Promise<Region[]> => (await sql.listRegions(db)).map(toRegion)

export const { plansSoldIn, regionsWithStorage } = sql
export const listRegionRows = sql.listRegions
export const listPlanRows = sql.listPlans
export const findRegion = sql.findRegion
export const findPlan = sql.findPlan

/** Of a region: where it is, null where it is simulated, undefined for an unknown region. */
export const findNetworkController = async (db: Queries, regionId: string): Promise<string | null | undefined> =>
  (await sql.findRegion(db, regionId))?.network_controller

export async function getRegion(db: Queries, idOrSlug: string): Promise<sql.RegionRow> {
  const row = await sql.findRegion(db, idOrSlug)
  if (!row) throw notFound('Region')
  return row
}

export interface RegionInput {
  name: string
  /** ISO 3166 alpha-2. */
  country: string
  city: string
  available: boolean
}

/** Appends the region to the display order. It takes VMs once it has a host and public addresses. */
export async function createRegion(tx: Tx, now: Date, { slug, ...input }: RegionInput & { slug: string }): Promise<Region> {
  requireSlug(slug)
  const position = 1 + Math.max(-1, ...(await sql.listRegions(tx)).map((each) => each.position))
  const row = { id: newId(), slug, ...checkedRegion(input), position, created_at: now }
  if ((await sql.insertRegion(tx, row)) === 0) throw apiError('already_exists', `There is a region ${slug} already`)
  return toRegion(row)
}

function requireSlug(slug: string): void {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(slug)) throw invalid('slug must be 1-63 lower-case letters, digits or hyphens', 'slug')
}

/** Existing VMs stay as they are; without `available` the region takes no new ones. */
export async function changeRegion(tx: Tx, idOrSlug: string, change: Partial<RegionInput>): Promise<Region> {
  const row = await getRegion(tx, idOrSlug)
  const changed = { ...row, ...checkedRegion({ ...row, ...change }) }
  await sql.updateRegion(tx, changed)
  return toRegion(changed)
}

/** How soon a host of the region counts as lost, and whether that is dealt with without an operator. */
export async function changeRecovery(
  tx: Tx,
  idOrSlug: string,
  change: { lostAfterSeconds?: number; autoRecovery?: boolean },
): Promise<void> {
  const row = await getRegion(tx, idOrSlug)
  const seconds = change.lostAfterSeconds ?? row.lost_after_seconds
  if (!Number.isInteger(seconds) || seconds < 10 || seconds > 3600) throw invalid('lostAfter must be from 10 to 3600 seconds', 'lostAfter')
  await sql.setRecovery(tx, row.id, { lost_after_seconds: seconds, auto_recovery: change.autoRecovery ?? row.auto_recovery })
}

function checkedRegion({ name, country, city, available }: RegionInput): RegionInput & { flag: string } {
  for (const [field, value] of Object.entries({ name, city }))
    if (!/^[^\p{Cc}]{1,100}$/u.test(value)) throw invalid(`${field} must be 1-100 characters`, field)
  if (!/^[A-Z]{2}$/.test(country)) throw invalid('country must be two capital letters, such as DE', 'country')
  const flag = country.replace(/[A-Z]/g, (letter) => String.fromCodePoint(REGIONAL_INDICATOR_A + letter.charCodeAt(0) - 65))
  return { name, country, city, available, flag }
}

/** A flag emoji is the country's letters as regional indicator symbols. */
const REGIONAL_INDICATOR_A = 0x1f1e6

export const listPlans = async (db: Queries, currency: string): Promise<Plan[]> => toPlans(db, currency, await sql.listPlans(db))

/** A plan too large for every host is not available to customers, although it is on sale. */
export async function listOfferedPlans(db: Queries, currency: string): Promise<Plan[]> {
  const [plans, replicated] = await Promise.all([sql.listOfferedPlans(db), sql.regionsWithStorage(db)])
  const offered = plans.map((plan) => ({ ...plan, available: plan.available && plan.has_host }))
  return (await toPlans(db, currency, offered)).map((plan) =>
    plan.storage === 'LOCAL' ? plan : { ...plan, regions: plan.regions.filter((slug) => replicated.includes(slug)) },
  )
}

async function toPlans(db: Queries, currency: string, plans: sql.PlanRow[]): Promise<Plan[]> {
  const [regions, numbers] = await Promise.all([sql.listRegions(db), catalogNumbers(db)])
  const prices = {
    copyCents: numbers('price.copies_gib'),
    ipv4Cents: numbers('price.ipv4'),
    keptIpv4Cents: keptIpv4Price(numbers),
    shelvedCents: { LOCAL: numbers('price.shelved_gib'), REPLICATED: numbers('price.shelved_replicated_gib') },
  }
  return plans.map((plan) => toPlan(plan, currency, prices, regions))
}

/** A month of the public IPv4 address of a shelved VM: at least that of a reserved one, or VMs would be shelved to keep addresses. As in the view `vm_details`. */
export function keptIpv4Price(numbers: CatalogNumbers): Cents {
  const [included, reserved] = [numbers('price.ipv4'), numbers('price.address')]
  return included > reserved ? included : reserved
}

export async function getPlan(db: Queries, idOrSlug: string): Promise<sql.PlanRow> {
  const row = await sql.findPlan(db, idOrSlug)
  if (!row) throw notFound('Plan')
  return row
}

export async function getDefaultPlan(db: Queries): Promise<sql.PlanRow> {
  const row = await sql.findDefaultPlan(db)
  if (!row) throw invalid('planId is required: the catalog has no default plan', 'planId')
  return row
}

export type NewPlan = Pick<sql.PlanRow, 'slug' | 'name' | 'vcpu' | 'ram_mib' | 'disk_gib' | 'storage' | 'bandwidth_gb' | 'network_mbps'> & {
  price: string
  throttleMbps: number
  diskIops: number | null
  diskMiBPerSecond: number | null
  dedicatedCpu?: boolean
  traits?: string[]
  available: boolean
  regions: string[] | null
}

/** Appends the plan to the display order. */
export async function createPlan(tx: Tx, now: Date, input: NewPlan): Promise<sql.PlanRow> {
  const { price, throttleMbps, diskIops, diskMiBPerSecond, dedicatedCpu = false, traits = [], available, regions, ...plan } = input
  for (const slug of regions ?? []) await getRegion(tx, slug)
  const position = 1 + Math.max(-1, ...(await sql.listPlans(tx)).map((each) => each.position))
  const row = {
    id: newId(),
    price_cents: parseCents(price),
    throttle_mbps: throttleMbps,
    disk_iops: diskIops,
    disk_mib_per_second: diskMiBPerSecond,
    dedicated_cpu: dedicatedCpu,
    traits: checkedTraits(traits),
    available,
    region_slugs: regions,
    created_at: now,
  }
  requireSlug(plan.slug)
  if (plan.slug === 'custom') throw invalid('custom is the name of configurations without a plan: choose another slug', 'slug')
  requireSound({ ...plan, ...row })
  if ((await sql.insertPlan(tx, { ...plan, ...row, is_default: false, position })) === 0)
    throw apiError('already_exists', `There is a plan ${plan.slug} already`)
  return getPlan(tx, plan.slug)
}

export interface PlanChange {
  name?: string
  price?: string
  available?: boolean
  bandwidth?: number
  networkSpeed?: number
  throttleMbps?: number
  /** Null lifts the limit. */
  diskIops?: number | null
  diskMiBPerSecond?: number | null
  /** Of VMs that are created or upgraded from now on. */
  dedicatedCpu?: boolean
  /** Where VMs are placed from now on, also existing ones that move. */
  traits?: string[]
}

/** Existing VMs keep their size; a new price applies from their next renewal. */
export async function changePlan(tx: Tx, idOrSlug: string, change: PlanChange): Promise<sql.PlanRow> {
  const row = await getPlan(tx, idOrSlug)
  const changed: sql.PlanRow = {
    ...row,
    name: change.name ?? row.name,
    price_cents: change.price === undefined ? row.price_cents : parseCents(change.price),
    available: change.available ?? row.available,
    bandwidth_gb: change.bandwidth ?? row.bandwidth_gb,
    network_mbps: change.networkSpeed ?? row.network_mbps,
    throttle_mbps: change.throttleMbps ?? row.throttle_mbps,
    disk_iops: change.diskIops === undefined ? row.disk_iops : change.diskIops,
    disk_mib_per_second: change.diskMiBPerSecond === undefined ? row.disk_mib_per_second : change.diskMiBPerSecond,
    dedicated_cpu: change.dedicatedCpu ?? row.dedicated_cpu,
    traits: change.traits === undefined ? row.traits : checkedTraits(change.traits),
  }
  requireSound(changed)
  await sql.updatePlan(tx, changed)
  return changed
}

type PlanNumbers = Pick<
  sql.PlanRow,
  | 'name'
  | 'vcpu'
  | 'ram_mib'
  | 'disk_gib'
  | 'bandwidth_gb'
  | 'network_mbps'
  | 'throttle_mbps'
  | 'disk_iops'
  | 'disk_mib_per_second'
  | 'price_cents'
>

function requireSound(plan: PlanNumbers): void {
  const isBetween = (value: number, least: number, most: number): boolean => value >= least && value <= most
  if (!/^[^\p{Cc}]{1,100}$/u.test(plan.name)) throw invalid('name must be 1-100 characters', 'name')
  if (!isBetween(plan.vcpu, 1, 64)) throw invalid('vcpu must be 1-64', 'vcpu')
  if (!isBetween(plan.ram_mib, 128, 262_144)) throw invalid('ram must be 128-262144 MiB', 'ram')
  if (!isBetween(plan.disk_gib, 1, 4096)) throw invalid('disk must be 1-4096 GiB', 'disk')
  if (plan.price_cents < 0n) throw invalid('the price must not be negative', 'price')
  const isSlow = plan.network_mbps < 1 || plan.throttle_mbps < 1
  if (plan.bandwidth_gb < 0 || isSlow || isBelowOne(plan.disk_iops) || isBelowOne(plan.disk_mib_per_second))
    throw invalid('sizes and speeds must be positive')
}

const MAX_TRAITS = 20

/** Of hosts or plans: sorted, each once. */
export function checkedTraits(traits: readonly string[]): string[] {
  for (const trait of traits)
    if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(trait))
      throw invalid(`"${trait}" is no trait: use 1-32 lower-case letters, digits, hyphens or underscores`, 'traits')
  const unique = [...new Set(traits)].toSorted()
  if (unique.length > MAX_TRAITS) throw invalid(`there can be ${MAX_TRAITS} traits at most`, 'traits')
  return unique
}

/** What hosts of the plan's VMs must have; nothing for a custom configuration. */
export const traitsOfPlan = async (db: Queries, planId: string | null): Promise<string[]> =>
  planId === null ? [] : (await getPlan(db, planId)).traits

const isBelowOne = (limit: number | null): boolean => limit !== null && limit < 1

export const listTemplates = async (db: Queries): Promise<OsTemplate[]> => (await sql.listTemplates(db)).map(toOsTemplate)

/** All columns, for operators. */
export const listTemplateRows = sql.listTemplates

export const { findTemplate, findTemplateByChecksum, findTemplateOfArch } = sql

export async function getTemplate(db: Queries, idOrSlug: string): Promise<sql.TemplateRow> {
  const row = await sql.findTemplate(db, idOrSlug)
  if (!row) throw notFound('OS template')
  return row
}

/** Also an image of the account, which is not deleted before the transaction ends. That of another does not exist. */
export async function getTemplateFor(tx: Tx, accountId: string, idOrSlug: string): Promise<sql.TemplateRow> {
  const row = await sql.holdTemplateOf(tx, accountId, idOrSlug)
  if (row) return row
  const iso = await sql.findIsoName(tx, accountId, idOrSlug)
  if (iso === undefined) throw notFound('OS template')
  throw apiError(
    'incompatible',
    `${iso} is an ISO image, which is no disk: make the VM from an OS template or an image of kind DISK, attach the ISO image with PUT /vms/{id}/iso, and restart it`,
  )
}

/** Makes an image of an account a template that only the account sees. */
export const addOwnTemplate = sql.insertTemplate

export const { setOwnTemplate, lockTemplateUse, deleteTemplate } = sql

/** The template of a VM or of a copy, whoever it belongs to. */
export async function getTemplateById(db: Queries, id: string): Promise<sql.TemplateRow> {
  const row = await sql.templateById(db, id)
  if (!row) throw new Error(`BUG: template ${id} is gone while it is in use`)
  return row
}

export const getOsTemplate = async (db: Queries, slug: string): Promise<OsTemplate> => toOsTemplate(await getTemplate(db, slug))

/** Unit prices, add-ons, quotas and settings by name. */
export interface CatalogNumbers {
  /** An unknown name is a bug and throws. */
  (name: string): Cents
  find(name: string): Cents | undefined
}

export async function catalogNumbers(db: Queries): Promise<CatalogNumbers> {
  const numbers = new Map((await sql.listNumbers(db)).map(({ name, value }) => [name, value]))
  const get = (name: string): Cents => {
    const value = numbers.get(name)
    if (value === undefined) throw new Error(`BUG: the catalog has no number ${name}`)
    return value
  }
  return Object.assign(get, { find: (name: string) => numbers.get(name) })
}
