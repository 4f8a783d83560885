import type { Query, RecentVmMetrics, UpdateVm, Vm, VmMetrics } from '@berth/sdk'
import { priceOf, quoteDetails, VM_COLUMNS, VM_FIELDS } from '../columns.ts'
import { defineCommand, group } from '../command.ts'
import type { CommandContext } from '../command-context.ts'
import { neededFor, usageError } from '../exit-codes.ts'
import { bytes, shellWord, time } from '../format.ts'
import { isInteractive, type Io } from '../io.ts'
import { omitUndefined, parseInteger, parseOnOff, readTextOrFile, readUserData, requireChanges, SELECTOR, splitList } from '../options.ts'
import { prompt, readStdin } from '../prompt.ts'
import { type Columns, details, message, table } from '../result.ts'
import { actionTable } from './action.ts'
import { bulk } from './vm-bulk.ts'
import { createVm } from './vm-create.ts'
import { vmIso } from './vm-iso.ts'
import { reach } from './vm-reach.ts'
import { openConsole, ssh } from './vm-remote.ts'
import { resize, upgrade } from './vm-size.ts'

const list = defineCommand<Omit<Query<'listVms'>, 'page' | 'limit' | 'cursor' | 'labelSelector'> & { selector?: string }>({
  name: 'list',
  description: 'list VMs',
  options: [
    ['--status <status>', 'filter by status: RUNNING, STOPPED, …'],
    ['--region <region>', 'filter by region'],
    ['--plan <plan>', 'filter by plan; custom for custom configurations'],
    ['--network <network>', 'filter by private network'],
    ['--firewall <firewall>', 'filter by firewall'],
    ['--shelved', 'only shelved VMs'],
    ['--name <text>', 'filter by part of the name'],
    ['--address <ip>', 'filter by public or private address'],
    SELECTOR,
    ['--sort <field>', 'name, createdAt or nextRenewalAt; -name and so on for descending'],
  ],
  example: 'vm list --status RUNNING',
  lists: true,
  async run(ctx, { status, region, plan, network, firewall, shelved, name, address, selector, sort }) {
    const query = {
      ...omitUndefined({ status, region, plan, shelved, name, address, sort, labelSelector: selector }),
      ...(network && { network: await ctx.resolveId('network', network) }),
      ...(firewall && { firewall: await ctx.resolveId('firewall', firewall) }),
    }
    const filters = Object.keys(query).filter((each) => each !== 'sort')
    const none = filters.length > 0 ? 'No VM matches' : 'No VMs yet. Create one: berth vm create --help'
    return table(await ctx.list(ctx.berth.vms.list(query)), VM_COLUMNS, none)
  },
})

const get = defineCommand({
  name: 'get',
  description: 'show a VM',
  args: '<vm>',
  example: 'vm get web-1',
  run: async (ctx, _, vm: string) => details(await ctx.getVm(vm), VM_FIELDS),
})

const start = defineCommand({
  name: 'start',
  description: 'start a VM',
  args: '<vm>',
  example: 'vm start web-1',
  waits: true,
  run: (ctx, _, vm: string) => ctx.changeVm(vm, 'starting', (berth, id) => berth.vms.start(id)),
})

const stop = defineCommand<{ force?: true }>({
  name: 'stop',
  description: 'shut down a VM; it is powered off if the guest does not respond',
  args: '<vm>',
  options: [['--force', 'power off at once']],
  example: 'vm stop web-1',
  waits: true,
  run: (ctx, { force = false }, vm: string) => ctx.changeVm(vm, 'stopping', (berth, id) => berth.vms.stop(id, { force })),
})

const restart = defineCommand<{ force?: true }>({
  name: 'restart',
  description: 'restart a VM',
  args: '<vm>',
  options: [['--force', 'reset at once instead of shutting down']],
  example: 'vm restart web-1',
  waits: true,
  asks: true,
  async run(ctx, { force = false }, vm: string) {
    await ctx.ask(() => `Restarting ${vm} ends its programs and connections.`)
    return ctx.changeVm(vm, 'restarting', (berth, id) => berth.vms.restart(id, { force }))
  },
})

const rebuild = defineCommand<{ os?: string; key?: string[]; password?: string; userData?: string; dryRun?: true }>({
  name: 'rebuild',
  description: 'reinstall from an OS template or own image; all data is lost',
  args: '<vm>',
  options: [
    ['--os <os>', 'OS template or own image; see berth os list, berth image list (required)'],
    ['--key <key...>', 'SSH keys to install'],
    ['--password <password>', 'console password; - reads stdin, @file reads a file'],
    ['--user-data <text>', 'what cloud-init does at the first boot; - reads stdin, @file reads a file, none: nothing; default: as before'],
  ],
  example: 'vm rebuild web-1 --os debian-12 --key laptop',
  waits: true,
  confirms: true,
  supportsDryRun: true,
  async run(ctx, { os, key, password, userData, dryRun }, vm: string) {
    if (!os) throw usageError('--os is required, such as --os debian-12; see berth os list')
    const [osTemplateId, sshKeyIds] = await Promise.all([ctx.resolveId('os', os), key && ctx.resolveIds('key', splitList(key))])
    if (!dryRun) await ctx.confirm(`All data on the disk of ${vm} will be permanently deleted.`, vm)
    const login = omitUndefined({ sshKeyIds, password: password && readTextOrFile(password).trim() })
    const body = { osTemplateId, ...login, ...(userData && { userData: userData === 'none' ? null : readUserData(userData) }) }
    if (dryRun) return quoteDetails(await ctx.berth.vms.quoteRebuild(await ctx.resolveId('vm', vm), body))
    return ctx.changeVm(vm, 'rebuilding', (berth, id) => berth.vms.rebuild(id, body))
  },
})

const shelve = defineCommand<{ dryRun?: true }>({
  name: 'shelve',
  description: 'take a VM off its host; until it is unshelved it costs its disk and addresses only',
  args: '<vm>',
  example: 'vm shelve web-1',
  waits: true,
  asks: true,
  supportsDryRun: true,
  async run(ctx, { dryRun }, vm: string) {
    const quote = async () => ctx.berth.vms.quoteShelve(await ctx.resolveId('vm', vm))
    if (dryRun) return quoteDetails(await quote())
    await ctx.ask(async () => `Shelving ${vm} shuts it down until it is unshelved, and ${priceOf(await quote())}`)
    return ctx.changeVm(vm, 'shelving', (berth, id) => berth.vms.shelve(id))
  },
})

const unshelve = defineCommand<{ dryRun?: true }>({
  name: 'unshelve',
  description: 'bring a shelved VM back to a host; it is started if it ran when it was shelved',
  args: '<vm>',
  example: 'vm unshelve web-1',
  waits: true,
  asks: true,
  supportsDryRun: true,
  async run(ctx, { dryRun }, vm: string) {
    const quote = async () => ctx.berth.vms.quoteUnshelve(await ctx.resolveId('vm', vm))
    if (dryRun) return quoteDetails(await quote())
    await ctx.ask(async () => `Unshelving ${vm} ${priceOf(await quote())}`)
    return ctx.changeVm(vm, 'unshelving', (berth, id) => berth.vms.unshelve(id))
  },
})

const rescue = defineCommand<{ key?: string[]; password?: string; end?: true }>({
  name: 'rescue',
  description: 'restart a VM into a rescue system with its own disk beside it, to mend that; it ends by itself after 24 hours',
  args: '<vm>',
  options: [
    ['--key <key...>', 'SSH keys that can log in; default: those of the VM'],
    ['--password <password>', 'password of the rescue system; - reads stdin, @file reads a file'],
    ['--end', 'restart the VM from its own disk'],
  ],
  example: 'vm rescue web-1 --key laptop',
  waits: true,
  asks: true,
  async run(ctx, { key, password, end }, vm: string) {
    if (end && (key || password)) throw usageError('--end takes neither --key nor --password')
    const sshKeyIds = key && (await ctx.resolveIds('key', splitList(key)))
    if (!end && !key && !password && !(await hasKeys(ctx, vm)))
      throw usageError(`Nobody could log in to the rescue system of ${vm}: give --key or --password`)
    await ctx.ask(() =>
      end ? `Ending the rescue of ${vm} restarts it from its own disk.` : `Rescuing ${vm} ends its programs and connections.`,
    )
    if (end) return ctx.changeVm(vm, 'ending the rescue of', (berth, id) => berth.vms.unrescue(id))
    const body = omitUndefined({ sshKeyIds, password: password && readTextOrFile(password).trim() })
    const done = await ctx.changeVm(vm, 'rescuing', (berth, id) => berth.vms.rescue(id, body))
    return ctx.options.wait === false ? done : { ...done, hint: rescueHint(await ctx.getVm(vm)) }
  },
})

const hasKeys = (ctx: CommandContext, vm: string): Promise<boolean> =>
  ctx.getVm(vm).then(({ sshKeys }) => sshKeys.length > 0, neededFor('to know whether the VM has keys; --key does without it'))

function rescueHint({ name, rescue, ipAddress, ipv6Address }: Vm): string {
  const [vm, address] = [shellWord(name), ipAddress ?? ipv6Address]
  const login =
    address && rescue
      ? `berth vm ssh ${vm}, or ssh ${rescue.user}@${address}. Its SSH host keys differ from those of the VM, of which ssh warns`
      : `berth vm console ${vm}`
  return `To log in: ${login}. To end the rescue: berth vm rescue ${vm} --end`
}

const rename = defineCommand({
  name: 'rename',
  description: 'rename a VM; its hostname does not change',
  args: '<vm> <name>',
  example: 'vm rename web-1 shop',
  async run(ctx, _, vm: string, name: string) {
    const renamed = await ctx.berth.vms.update(await ctx.resolveId('vm', vm), { name })
    return message(renamed, renamed.name, `${vm} renamed to ${renamed.name}`)
  },
})

const protection = (name: string, isProtected: boolean, description: string, outcome: string) =>
  defineCommand({
    name,
    description,
    args: '<vm>',
    example: `vm ${name} web-1`,
    async run(ctx, _, vm: string) {
      const changed = await ctx.berth.vms.update(await ctx.resolveId('vm', vm), { isProtected })
      return message(changed, changed.name, `${changed.name} ${outcome}`)
    },
  })

const protect = protection('protect', true, 'protect a VM from delete, rebuild and restore', 'is protected')
const unprotect = protection('unprotect', false, 'allow delete, rebuild and restore of a VM', 'is no longer protected')

interface UpdateOptions {
  dailyBackups?: string
  backupHour?: string
  keepDaily?: string
  keepWeekly?: string
  keepMonthly?: string
  network10g?: string
  placementGroup?: string
  reverseName?: string
  ipv6ReverseName?: string
  dryRun?: true
}

const update = defineCommand<UpdateOptions>({
  name: 'update',
  description: 'change add-ons, backup policy and placement group of a VM, or name its addresses in reverse DNS',
  args: '<vm>',
  options: [
    ['--daily-backups <on|off>', 'daily backups'],
    ['--backup-hour <hour>', 'hour of daily backups, 0-23 UTC, or "none" for a time of its own at night'],
    ['--keep-daily <number>', 'newest daily backups to keep, 1-31'],
    ['--keep-weekly <number>', 'weeks to keep the newest of, 0-53'],
    ['--keep-monthly <number>', 'months to keep the newest of, 0-24'],
    ['--network-10g <on|off>', '10 Gbit/s network'],
    ['--placement-group <group>', 'placement group, or "none"; the VM stays on its host'],
    ['--reverse-name <host>', 'name of its IPv4 address in reverse DNS (PTR), such as mail.example.com, or "none"'],
    ['--ipv6-reverse-name <host>', 'the same of its IPv6 address'],
  ],
  example: 'vm update web-1 --daily-backups on --dry-run',
  asks: true,
  supportsDryRun: true,
  async run(ctx, options, vm: string) {
    const { dailyBackups, network10g, placementGroup, reverseName, ipv6ReverseName, dryRun } = options
    const fields = omitUndefined({
      dailyBackupEnabled: parseOnOff('--daily-backups', dailyBackups),
      network10gEnabled: parseOnOff('--network-10g', network10g),
      backupPolicy: backupPolicyChange(options),
      placementGroupId: placementGroup === 'none' ? null : placementGroup && (await ctx.resolveId('placement-group', placementGroup)),
      reverseName: reverseName === 'none' ? null : reverseName,
      ipv6ReverseName: ipv6ReverseName === 'none' ? null : ipv6ReverseName,
    })
    const body = requireChanges(
      fields,
      '--daily-backups on|off, --backup-hour, --keep-daily, --keep-weekly, --keep-monthly, --network-10g on|off, --placement-group, --reverse-name, --ipv6-reverse-name',
    )
    const id = await ctx.resolveId('vm', vm)
    if (dryRun) return quoteDetails(await ctx.berth.vms.quoteUpdate(id, body))
    if (dailyBackups !== undefined || network10g !== undefined)
      await ctx.ask(async () => `Changing the add-ons of ${vm} ${priceOf(await ctx.berth.vms.quoteUpdate(id, body))}`)
    const updated = await ctx.berth.vms.update(id, body)
    const shown = details(updated, VM_FIELDS)
    if (body.backupPolicy === undefined || updated.dailyBackupEnabled) return shown
    return {
      ...shown,
      hint: `Daily backups are off, so none are made yet. To switch them on: berth vm update ${shellWord(vm)} --daily-backups on`,
    }
  },
})

function backupPolicyChange({ backupHour, keepDaily, keepWeekly, keepMonthly }: UpdateOptions): UpdateVm['backupPolicy'] {
  const integer = (flag: string, text: string | undefined) => (text === undefined ? undefined : parseInteger(flag, text))
  const change = omitUndefined({
    hour: backupHour === 'none' ? null : integer('--backup-hour', backupHour),
    keepDaily: integer('--keep-daily', keepDaily),
    keepWeekly: integer('--keep-weekly', keepWeekly),
    keepMonthly: integer('--keep-monthly', keepMonthly),
  })
  return Object.keys(change).length > 0 ? change : undefined
}

const password = defineCommand({
  name: 'password',
  description: 'reset the password of a VM; prompts on a terminal, else reads stdin',
  args: '<vm>',
  example: 'vm password web-1 < password.txt',
  waits: true,
  async run(ctx, _, vm: string) {
    const wanted = await readNewPassword(ctx.io)
    return ctx.changeVm(vm, 'resetting the password of', (berth, id) => berth.vms.setPassword(id, wanted))
  },
})

/** Never an argument: other users can read arguments in the process list, and shells keep them in the history. */
const readNewPassword = (io: Io): Promise<string> =>
  isInteractive(io) ? prompt(io, 'New password (8 characters or more): ', { hidden: true }) : readStdin(io.stdin)

const remove = defineCommand<{ dryRun?: true }>({
  name: 'delete',
  description: 'delete a VM with its snapshots and backups; unused full days are refunded, less the share of traffic used',
  args: '<vm>',
  example: 'vm delete web-1 --yes',
  waits: true,
  confirms: true,
  supportsDryRun: true,
  async run(ctx, { dryRun }, vm: string) {
    const { id, name } = await ctx.getVm(vm)
    if (dryRun) return quoteDetails(await ctx.berth.vms.quoteDelete(id))
    await ctx.confirm(`${name} and all its data will be permanently deleted.`, name)
    return ctx.finish(await ctx.berth.vms.delete(id), `deleting ${name}`, (action) => message(action, name, `${name} deleted`))
  },
})

const actions = defineCommand({
  name: 'actions',
  description: 'list actions of a VM, newest first',
  args: '<vm>',
  example: 'vm actions web-1',
  lists: true,
  run: async (ctx, _, vm: string) => actionTable(ctx, await ctx.list(ctx.berth.actions.ofVm(await ctx.resolveId('vm', vm)))),
})

const metrics = defineCommand<{ from?: string; to?: string; step?: string }>({
  name: 'metrics',
  description: 'show CPU, memory, disk and network usage over time',
  args: '<vm>',
  options: [
    ['--from <time>', 'start, ISO 8601; default: one hour ago'],
    ['--to <time>', 'end, ISO 8601; default: now'],
    ['--step <seconds>', 'interval between data points'],
  ],
  example: 'vm metrics web-1 --from 2027-01-31T12:00:00Z',
  async run(ctx, { from, to, step }, vm: string) {
    const query = omitUndefined({ from, to, step: step === undefined ? undefined : parseInteger('--step', step) })
    const measured = await ctx.berth.vms.metrics(await ctx.resolveId('vm', vm), query)
    return {
      ...table(toPoints(measured), METRICS_COLUMNS, 'No data in this time range', ({ at }: Partial<Point>) => at ?? ''),
      data: measured,
    }
  },
})

const load = defineCommand({
  name: 'load',
  description: 'show the CPU and traffic of VMs over the last hours',
  args: '<vm...>',
  example: 'vm load web-1 web-2',
  async run(ctx, _, ...given: string[]) {
    const vms = given.flat()
    const ids = await Promise.all(vms.map((vm) => ctx.resolveId('vm', vm)))
    const recent = await ctx.berth.vms.recentMetrics(ids)
    const named = recent.vms.map((each) => ({ ...each, name: vms[ids.indexOf(each.vmId)]! }))
    return { ...table(named, LOAD_COLUMNS, 'No such VMs', ({ vmId }: { vmId?: string }) => vmId ?? ''), data: recent }
  },
})

const averageOf = (values: (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.round(known.reduce((sum, value) => sum + value, 0) / known.length)
}

type Load = RecentVmMetrics['vms'][number] & { name: string }

const LOAD_COLUMNS: Columns<Load> = {
  VM: (each) => each.name,
  'CPU %': (each) => averageOf(each.cpuPercent),
  'HIGHEST CPU %': (each) => averageOf([Math.max(...each.cpuPercent.map((value) => value ?? 0))]),
  'NETWORK BYTES/S': (each) => averageOf(each.networkBytesPerSecond),
}

/** Without the times of which nothing is known, such as before the VM was created. */
const toPoints = ({ timestamps, series }: VmMetrics) =>
  timestamps
    .map((at, i) => ({
      at,
      cpu: series.cpuPercent[i] ?? null,
      steal: series.cpuStealPercent[i] ?? null,
      ram: series.ramUsed[i] ?? null,
      read: series.diskReadBytesPerSecond[i] ?? null,
      written: series.diskWriteBytesPerSecond[i] ?? null,
      wait: series.diskWaitMs[i] ?? null,
      received: series.networkInBytesPerSecond[i] ?? null,
      sent: series.networkOutBytesPerSecond[i] ?? null,
    }))
    .filter(({ at: _, ...values }) => Object.values(values).some((value) => value !== null))

type Point = ReturnType<typeof toPoints>[number]

const rate = (value: number | null): string | null => (value === null ? null : `${bytes(Math.round(value))}/s`)

const METRICS_COLUMNS = {
  TIME: ({ at }: Point) => time(at),
  CPU: ({ cpu }: Point) => (cpu === null ? null : `${cpu.toFixed(1)} %`),
  STEAL: ({ steal }: Point) => (steal === null ? null : `${steal.toFixed(1)} %`),
  RAM: ({ ram }: Point) => (ram === null ? null : `${Math.round(ram)} MiB`),
  'DISK READ': ({ read }: Point) => rate(read),
  'DISK WRITE': ({ written }: Point) => rate(written),
  'DISK WAIT': ({ wait }: Point) => (wait === null ? null : `${wait.toFixed(1)} ms`),
  'NET IN': ({ received }: Point) => rate(received),
  'NET OUT': ({ sent }: Point) => rate(sent),
}

const power = [start, stop, restart, bulk]
const changes = [upgrade, resize, shelve, unshelve, rescue, rebuild, rename, protect, unprotect, update, password, remove]

export const vm = group('vm', 'virtual machines', [
  list,
  get,
  createVm,
  ssh,
  openConsole,
  reach,
  ...power,
  ...changes,
  vmIso,
  actions,
  metrics,
  load,
])
