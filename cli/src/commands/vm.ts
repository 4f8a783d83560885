import type { Query, VmListItem, VmMetrics } from '@berth/sdk'
import { record, rows, said, type Columns } from '../answer.ts'
import { ACTION_COLUMNS, priced, VM_FIELDS } from '../columns.ts'
import { group, verb } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { bytes, time } from '../format.ts'
import { isAttended, type Io } from '../io.ts'
import { given, onOff, requireSome, textOrFile, whole, words } from '../options.ts'
import { ask, readAll } from '../prompt.ts'
import { createVm } from './vm-create.ts'
import { openConsole, ssh } from './vm-remote.ts'

const VM_COLUMNS: Columns<VmListItem> = {
  NAME: (vm) => vm.name,
  STATUS: (vm) => vm.status,
  ADDRESS: (vm) => vm.ipAddress,
  PLAN: (vm) => vm.plan.slug,
  OS: (vm) => vm.osTemplate.slug,
  REGION: (vm) => vm.region.slug,
  RENEWS: (vm) => time(vm.billing.nextRenewalAt),
}

const list = verb<{ status?: Query<'listVms'>['status'] }>({
  name: 'list',
  about: 'list your VMs',
  options: [['--status <status>', 'only those that are RUNNING, STOPPED, …']],
  example: 'vm list --status RUNNING',
  run: async ({ berth }, { status }) =>
    rows(await berth.vms.list(given({ status })).all(), VM_COLUMNS, 'There is no VM yet: berth vm create --help'),
})

const get = verb({
  name: 'get',
  about: 'show a VM',
  args: '<vm>',
  example: 'vm get web-1',
  run: async (call, _, vm: string) => record(await call.vm(vm), VM_FIELDS),
})

const start = verb({
  name: 'start',
  about: 'start a VM',
  args: '<vm>',
  example: 'vm start web-1',
  waits: true,
  run: (call, _, vm: string) => call.changeVm(vm, 'starting', (berth, id) => berth.vms.start(id)),
})

const stop = verb<{ force?: true }>({
  name: 'stop',
  about: 'stop a VM: it is asked to shut down, and cut off when it does not',
  args: '<vm>',
  options: [['--force', 'cut it off at once']],
  example: 'vm stop web-1',
  waits: true,
  run: (call, { force = false }, vm: string) => call.changeVm(vm, 'stopping', (berth, id) => berth.vms.stop(id, { force })),
})

const restart = verb<{ force?: true }>({
  name: 'restart',
  about: 'restart a VM',
  args: '<vm>',
  options: [['--force', 'cut it off at once instead of asking it to shut down']],
  example: 'vm restart web-1',
  waits: true,
  run: (call, { force = false }, vm: string) => call.changeVm(vm, 'restarting', (berth, id) => berth.vms.restart(id, { force })),
})

const upgrade = verb<{ plan?: string; dryRun?: true }>({
  name: 'upgrade',
  about: 'move a VM to a larger plan',
  args: '<vm>',
  options: [['--plan <plan>', 'as in berth plan list (required)']],
  example: 'vm upgrade web-1 --plan large',
  waits: true,
  priced: true,
  async run(call, { plan, dryRun }, vm: string) {
    if (!plan) throw wrongUsage('Say which plan: --plan large, or another of berth plan list')
    const planId = await call.id('plan', plan)
    if (dryRun) return priced(await call.berth.vms.quoteUpgrade(await call.id('vm', vm), planId))
    return call.changeVm(vm, 'upgrading', (berth, id) => berth.vms.upgrade(id, planId))
  },
})

const rebuild = verb<{ os?: string; key?: string[]; password?: string; dryRun?: true }>({
  name: 'rebuild',
  about: 'begin anew from an OS template: everything on the disk is lost',
  args: '<vm>',
  options: [
    ['--os <os>', 'OS template, as in berth os list (required)'],
    ['--key <key...>', 'SSH keys that may log in'],
    ['--password <password>', 'for the console; - reads it from stdin, @file from a file'],
  ],
  example: 'vm rebuild web-1 --os debian-12 --key laptop',
  waits: true,
  asks: true,
  priced: true,
  async run(call, { os, key, password, dryRun }, vm: string) {
    if (!os) throw wrongUsage('Say which OS: --os debian-12, or another of berth os list')
    const [osTemplateId, sshKeyIds] = await Promise.all([call.id('os', os), key && call.ids('key', words(key))])
    if (!dryRun) await call.confirm(`Everything on the disk of ${vm} is lost.`, vm)
    const body = { osTemplateId, ...given({ sshKeyIds, password: password && textOrFile(password).trim() }) }
    if (dryRun) return priced(await call.berth.vms.quoteRebuild(await call.id('vm', vm), body))
    return call.changeVm(vm, 'rebuilding', (berth, id) => berth.vms.rebuild(id, body))
  },
})

const rename = verb({
  name: 'rename',
  about: 'give a VM another name; its hostname stays',
  args: '<vm> <name>',
  example: 'vm rename web-1 shop',
  async run(call, _, vm: string, name: string) {
    const renamed = await call.berth.vms.update(await call.id('vm', vm), { name })
    return said(renamed, renamed.name, `${vm} is now called ${renamed.name}`)
  },
})

const protection = (name: string, isProtected: boolean, about: string, outcome: string) =>
  verb({
    name,
    about,
    args: '<vm>',
    example: `vm ${name} web-1`,
    async run(call, _, vm: string) {
      const changed = await call.berth.vms.update(await call.id('vm', vm), { isProtected })
      return said(changed, changed.name, `${changed.name} ${outcome}`)
    },
  })

const protect = protection('protect', true, 'refuse to delete, rebuild or restore a VM', 'is protected')
const unprotect = protection('unprotect', false, 'allow to delete, rebuild and restore a VM again', 'is no longer protected')

const update = verb<{ dailyBackups?: string; network10g?: string; dryRun?: true }>({
  name: 'update',
  about: 'switch add-ons of a VM',
  args: '<vm>',
  options: [
    ['--daily-backups <on|off>', 'back it up every day'],
    ['--network-10g <on|off>', '10 Gbit/s'],
  ],
  example: 'vm update web-1 --daily-backups on --dry-run',
  priced: true,
  async run(call, { dailyBackups, network10g, dryRun }, vm: string) {
    const fields = given({
      dailyBackupEnabled: onOff('--daily-backups', dailyBackups),
      network10gEnabled: onOff('--network-10g', network10g),
    })
    const body = requireSome(fields, '--daily-backups on|off, --network-10g on|off')
    const id = await call.id('vm', vm)
    if (dryRun) return priced(await call.berth.vms.quoteUpdate(id, body))
    return record(await call.berth.vms.update(id, body), VM_FIELDS)
  },
})

const password = verb({
  name: 'password',
  about: 'set the password of a VM; asked for on a terminal, else read from stdin',
  args: '<vm>',
  example: 'vm password web-1 < password.txt',
  waits: true,
  async run(call, _, vm: string) {
    const wanted = await newPassword(call.io)
    return call.changeVm(vm, 'setting the password of', (berth, id) => berth.vms.setPassword(id, wanted))
  },
})

/** Never an argument: those can be read by everybody on the machine, and stay in the history of the shell. */
const newPassword = (io: Io): Promise<string> =>
  isAttended(io) ? ask(io, 'New password (8 characters or more): ', { hidden: true }) : readAll(io.stdin)

const remove = verb<{ dryRun?: true }>({
  name: 'delete',
  about: 'delete a VM with its snapshots and backups; unused whole days are paid back',
  args: '<vm>',
  example: 'vm delete web-1 --yes',
  waits: true,
  asks: true,
  priced: true,
  async run(call, { dryRun }, vm: string) {
    const { id, name } = await call.vm(vm)
    if (dryRun) return priced(await call.berth.vms.quoteDelete(id))
    await call.confirm(`${name} and everything on it will be gone.`, name)
    return call.finish(await call.berth.vms.delete(id), `deleting ${name}`, (action) => said(action, name, `${name} is gone`))
  },
})

const actions = verb({
  name: 'actions',
  about: 'what was done to a VM, the newest first',
  args: '<vm>',
  example: 'vm actions web-1',
  run: async (call, _, vm: string) =>
    rows(await call.berth.actions.ofVm(await call.id('vm', vm)).all(), ACTION_COLUMNS, 'Nothing was done to it yet'),
})

const metrics = verb<{ from?: string; to?: string; step?: string }>({
  name: 'metrics',
  about: 'CPU, memory, disk and network over time',
  args: '<vm>',
  options: [
    ['--from <time>', 'ISO 8601; an hour ago unless given'],
    ['--to <time>', 'ISO 8601; now unless given'],
    ['--step <seconds>', 'between two points'],
  ],
  example: 'vm metrics web-1 --from 2027-01-31T12:00:00Z',
  async run(call, { from, to, step }, vm: string) {
    const query = given({ from, to, step: step === undefined ? undefined : whole('--step', step) })
    const measured = await call.berth.vms.metrics(await call.id('vm', vm), query)
    return {
      ...rows(pointsOf(measured), COLUMNS, 'Nothing was measured in that time', ({ at }: Partial<Point>) => at ?? ''),
      data: measured,
    }
  },
})

const pointsOf = ({ timestamps, series }: VmMetrics) =>
  timestamps.map((at, i) => ({
    at,
    cpu: series.cpuPercent[i] ?? null,
    ram: series.ramUsed[i] ?? null,
    read: series.diskReadBytesPerSecond[i] ?? null,
    written: series.diskWriteBytesPerSecond[i] ?? null,
    received: series.networkInBytesPerSecond[i] ?? null,
    sent: series.networkOutBytesPerSecond[i] ?? null,
  }))

type Point = ReturnType<typeof pointsOf>[number]

const rate = (value: number | null): string | null => (value === null ? null : `${bytes(Math.round(value))}/s`)

const COLUMNS = {
  TIME: ({ at }: Point) => time(at),
  CPU: ({ cpu }: Point) => (cpu === null ? null : `${cpu.toFixed(1)} %`),
  RAM: ({ ram }: Point) => (ram === null ? null : `${Math.round(ram)} MiB`),
  'DISK READ': ({ read }: Point) => rate(read),
  'DISK WRITE': ({ written }: Point) => rate(written),
  'NET IN': ({ received }: Point) => rate(received),
  'NET OUT': ({ sent }: Point) => rate(sent),
}

const power = [start, stop, restart]
const changes = [upgrade, rebuild, rename, protect, unprotect, update, password, remove]

export const vm = group('vm', 'virtual machines', [list, get, createVm, ssh, openConsole, ...power, ...changes, actions, metrics])
