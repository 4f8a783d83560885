import type { Alert } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { labelText, time } from '../format.ts'
import { LABEL, labelsOf, omitUndefined, parseInteger, parseLabels, requireChanges, SELECTOR, selectorOf } from '../options.ts'
import { details, message, table, type Columns } from '../result.ts'

const condition = ({ metric, comparison, threshold, forMinutes }: Alert): string =>
  `${metric} ${comparison === 'ABOVE' ? '>' : '<'} ${threshold}${forMinutes === null ? '' : ` for ${forMinutes} min`}`

const firing = (alert: Alert): string[] => alert.firing.map(({ vmName, value }) => `${vmName ?? 'account'} (${value})`)

const FIELDS: Columns<Alert> = {
  Name: (each) => each.name,
  Id: (each) => each.id,
  When: condition,
  VMs: (each) => each.vmIds ?? each.labelSelector ?? (each.metric === 'balanceDays' ? undefined : 'all'),
  Firing: firing,
  Labels: ({ labels }) => labelText(labels) || undefined,
  Created: (each) => time(each.createdAt),
}

const list = defineCommand<{ selector?: string }>({
  name: 'list',
  description: 'list alerts, and where they fire',
  options: [SELECTOR],
  example: 'alert list',
  lists: true,
  run: async (ctx, options) =>
    table(
      await ctx.list(ctx.berth.alerts.list(selectorOf(options))),
      { NAME: (each: Alert) => each.name, WHEN: condition, FIRING: firing },
      'No alerts yet. Create one: berth alert create busy --when "cpuPercent > 90"',
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show an alert, and where it fires',
  args: '<alert>',
  example: 'alert get busy',
  run: async (ctx, _, alert: string) => details(await ctx.berth.alerts.get(await ctx.resolveId('alert', alert)), FIELDS),
})

const WHEN = /^(?<metric>[A-Za-z]+)?\s*(?<sign>[<>])\s*(?<threshold>\d+(\.\d+)?)$/

/** `cpuPercent > 90`. */
function parseWhen(text: string): { metric: string | undefined; comparison: Alert['comparison']; threshold: number } {
  const { metric, sign, threshold } = WHEN.exec(text.trim())?.groups ?? {}
  if (sign === undefined) throw usageError(`--when must be such as "cpuPercent > 90", not "${text}"`)
  return { metric, comparison: sign === '>' ? 'ABOVE' : 'BELOW', threshold: Number(threshold) }
}

interface Condition {
  when?: string
  minutes?: string
  vm?: string[]
  vmLabels?: string
  label?: string[]
}

const MINUTES: [string, string] = ['--minutes <n>', 'how long it must be so, 1-60']
const VMS: [string, string] = ['--vm <vm...>', 'of these VMs']
const VM_LABELS: [string, string] = ['--vm-labels <selector>', 'of the VMs with such labels: env=prod,!old']

const create = defineCommand<Condition>({
  name: 'create',
  description: 'be told by mail, event and webhook when VMs, or the balance, pass a threshold',
  args: '<name>',
  options: [
    [
      '--when <condition>',
      'such as "cpuPercent > 90"; of ramPercent, diskReadBytesPerSecond, diskWriteBytesPerSecond, networkInBytesPerSecond, networkOutBytesPerSecond, trafficPercent and balanceDays alike',
    ],
    [MINUTES[0], `${MINUTES[1]}; default: 5`],
    VMS,
    VM_LABELS,
    LABEL,
  ],
  example: 'alert create busy --when "cpuPercent > 90" --minutes 10 --vm-labels env=prod',
  async run(ctx, { when, minutes, vm, vmLabels, ...options }, name: string) {
    if (when === undefined) throw usageError('--when is required, such as --when "cpuPercent > 90"')
    const { metric, comparison, threshold } = parseWhen(when)
    if (metric === undefined) throw usageError('--when must begin with what is measured, such as cpuPercent')
    const vmIds = vm && (await Promise.all(vm.map((each) => ctx.resolveId('vm', each))))
    const forMinutes = minutes === undefined ? undefined : parseInteger('--minutes', minutes)
    const body = {
      name,
      metric: metric as Alert['metric'],
      comparison,
      threshold,
      ...omitUndefined({ forMinutes, vmIds, labelSelector: vmLabels }),
    }
    return details(await ctx.berth.alerts.create({ ...body, ...labelsOf(options) }), FIELDS)
  },
})

const update = defineCommand<Condition & { name?: string }>({
  name: 'update',
  description: 'change an alert',
  args: '<alert>',
  options: [
    ['--name <name>', 'name'],
    ['--when <condition>', 'such as "> 95"'],
    MINUTES,
    [VMS[0], `${VMS[1]}; "all" for all`],
    [VM_LABELS[0], `${VM_LABELS[1]}; "all" for all`],
    LABEL,
  ],
  example: 'alert update busy --when "> 95"',
  async run(ctx, { name, when, minutes, vm, vmLabels, label }, alert: string) {
    const changed = when === undefined ? undefined : parseWhen(when)
    const isOfAll = vm?.join() === 'all' || vmLabels === 'all'
    const fields = omitUndefined({
      name,
      comparison: changed?.comparison,
      threshold: changed?.threshold,
      forMinutes: minutes === undefined ? undefined : parseInteger('--minutes', minutes),
      vmIds: isOfAll || vmLabels !== undefined ? null : vm && (await Promise.all(vm.map((each) => ctx.resolveId('vm', each)))),
      labelSelector: isOfAll || vm !== undefined ? null : vmLabels,
      labels: parseLabels(label),
    })
    const body = requireChanges(fields, '--name, --when, --minutes, --vm, --vm-labels, --label')
    const id = await ctx.resolveId('alert', alert)
    const { metric } = await ctx.berth.alerts.get(id)
    if (changed?.metric !== undefined && changed.metric !== metric)
      throw usageError(`${alert} measures ${metric}, and keeps to that: create another alert for ${changed.metric}`)
    return details(await ctx.berth.alerts.update(id, body), FIELDS)
  },
})

const remove = defineCommand({
  name: 'delete',
  description: 'delete an alert',
  args: '<alert>',
  example: 'alert delete busy',
  confirms: true,
  async run(ctx, _, alert: string) {
    const id = await ctx.resolveId('alert', alert)
    await ctx.confirm(`Alert ${alert} will be permanently deleted.`, alert)
    return message(await ctx.berth.alerts.delete(id), alert, `Alert ${alert} deleted`)
  },
})

export const alert = group('alert', 'thresholds that you are told of', [list, get, create, update, remove])
