import { writeFileSync } from 'node:fs'
import type { Backup } from '@berth/sdk'
import { isFree, priceOf, quoteDetails } from '../columns.ts'
import { defineCommand, group } from '../command.ts'
import { bytes, labelText, time } from '../format.ts'
import { LABEL, labelsOf, SELECTOR, selectorOf } from '../options.ts'
import { details, message, table, type Columns } from '../result.ts'

const BACKUP_FIELDS: Columns<Backup> = {
  Name: (backup) => backup.name,
  Id: (backup) => backup.id,
  Type: (backup) => backup.type,
  Status: (backup) => backup.status,
  Size: (backup) => bytes(backup.size),
  Disk: (backup) => (backup.disk === null ? undefined : `${backup.disk} GiB`),
  Expires: (backup) => time(backup.expiresAt),
  Consistency: (backup) => backup.consistency ?? undefined,
  'Restore tested': (backup) => proofOf(backup),
  'Restore took': (backup) => (backup.restoreSeconds === null ? undefined : `${backup.restoreSeconds} s`),
  'Boot took': (backup) => (backup.bootSeconds === null ? undefined : `${backup.bootSeconds} s`),
  Error: (backup) => backup.error,
  Warning: (backup) => backup.warning ?? undefined,
  Labels: ({ labels }) => labelText(labels) || undefined,
  Created: (backup) => time(backup.createdAt),
}

/** What a restore on trial has shown. */
function proofOf({ verification, verifiedAt, verificationError }: Backup): string {
  if (verification === null) return 'not yet'
  if (verification === 'FAILED') return `FAILED: ${verificationError}`
  return `${time(verifiedAt)}, ${verification === 'BOOTED' ? 'guest agent answered' : 'guest ran, no guest agent answered'}`
}

const LIST_COLUMNS: Columns<Backup> = {
  NAME: (backup) => backup.name,
  TYPE: (backup) => backup.type,
  STATUS: (backup) => backup.status,
  SIZE: (backup) => bytes(backup.size),
  CREATED: (backup) => time(backup.createdAt),
  EXPIRES: (backup) => time(backup.expiresAt),
  TESTED: (backup) => (backup.verification === 'FAILED' ? 'FAILED' : time(backup.verifiedAt)),
  ID: (backup) => backup.id,
}

const list = defineCommand<{ selector?: string }>({
  name: 'list',
  description: 'list the backups of a VM',
  args: '<vm>',
  options: [SELECTOR],
  example: 'backup list web-1',
  lists: true,
  async run(ctx, options, vm: string) {
    const backups = await ctx.list(ctx.berth.backups.list(await ctx.resolveId('vm', vm), selectorOf(options)))
    const listed = table(backups, LIST_COLUMNS, `No backups yet. Create one: berth backup create ${vm} <name>`)
    const warned = backups.filter(({ warning }) => warning)
    if (warned.length === 0) return listed
    const warnings = new Set(warned.map(({ warning }) => warning))
    return { ...listed, hint: `Warning for ${warned.map(({ name }) => name).join(', ')}: ${[...warnings].join('. ')}` }
  },
})

const get = defineCommand({
  name: 'get',
  description: 'show a backup',
  args: '<vm> <backup>',
  example: 'backup get web-1 monday',
  async run(ctx, _, vm: string, backup: string) {
    const vmId = await ctx.resolveId('vm', vm)
    return details(await ctx.berth.backups.get(vmId, await ctx.resolveId('backup', backup, vmId)), BACKUP_FIELDS)
  },
})

const create = defineCommand<{ label?: string[]; dryRun?: true }>({
  name: 'create',
  description: 'back up a VM now',
  args: '<vm> <name>',
  options: [LABEL],
  example: 'backup create web-1 monday',
  waits: true,
  asks: true,
  supportsDryRun: true,
  async run(ctx, { dryRun, ...options }, vm: string, name: string) {
    const [vmId, body] = [await ctx.resolveId('vm', vm), { name, ...labelsOf(options) }]
    const quote = () => ctx.berth.backups.quoteCreate(vmId, body)
    if (dryRun) return quoteDetails(await quote())
    await ctx.ask(async () => {
      const price = await quote()
      return isFree(price) ? undefined : `Creating backup ${name} of ${vm} ${priceOf(price)}`
    })
    const started = await ctx.berth.backups.create(vmId, body)
    const reload = () => ctx.berth.backups.get(started.vmId, started.backup.id)
    return ctx.finish(started, `backup ${name}`, async () => details(await reload(), BACKUP_FIELDS))
  },
})

const screenshot = defineCommand({
  name: 'screenshot',
  description: 'save a picture of the screen after the trial restore of a backup',
  args: '<vm> <backup> <file>',
  example: 'backup screenshot web-1 monday screen.png',
  async run(ctx, _, vm: string, backup: string, file: string) {
    const vmId = await ctx.resolveId('vm', vm)
    const picture = await ctx.berth.backups.screenshot(vmId, await ctx.resolveId('backup', backup, vmId))
    writeFileSync(file, Buffer.from(picture.png, 'base64'))
    return message(picture, file, `Saved the screen of ${time(picture.takenAt)} as ${file}`)
  },
})

const restore = defineCommand<{ withoutNetworks?: true }>({
  name: 'restore',
  description: 'restore a VM from a backup; data written since is lost',
  args: '<vm> <backup>',
  options: [['--without-networks', 'no effect: a VM keeps its private networks']],
  example: 'backup restore web-1 monday',
  waits: true,
  confirms: true,
  async run(ctx, { withoutNetworks = false }, vm: string, backup: string) {
    const id = await ctx.resolveId('backup', backup, await ctx.resolveId('vm', vm))
    await ctx.confirm(`All data that ${vm} has written since will be permanently deleted.`, vm)
    return ctx.changeVm(vm, 'restoring', (berth, vmId) => berth.backups.restore(vmId, id, { withoutNetworks }))
  },
})

const remove = defineCommand({
  name: 'delete',
  description: 'delete a backup',
  args: '<vm> <backup>',
  example: 'backup delete web-1 monday',
  confirms: true,
  async run(ctx, _, vm: string, backup: string) {
    const vmId = await ctx.resolveId('vm', vm)
    const id = await ctx.resolveId('backup', backup, vmId)
    await ctx.confirm(`Backup ${backup} of ${vm} will be permanently deleted.`, backup)
    const response = await ctx.berth.backups.delete(vmId, id)
    return message(response, backup, response.message)
  },
})

export const backup = group('backup', 'copies of a disk, off its host where that is possible', [
  list,
  get,
  create,
  screenshot,
  restore,
  remove,
])
