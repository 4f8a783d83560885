import type { Backup } from '@berth/sdk'
import { quoteDetails } from '../columns.ts'
import { defineCommand, group } from '../command.ts'
import { bytes, time } from '../format.ts'
import { details, message, table, type Columns } from '../result.ts'

const BACKUP_FIELDS: Columns<Backup> = {
  Name: (backup) => backup.name,
  Id: (backup) => backup.id,
  Type: (backup) => backup.type,
  Status: (backup) => backup.status,
  Size: (backup) => bytes(backup.size),
  Expires: (backup) => time(backup.expiresAt),
  Error: (backup) => backup.error,
  Created: (backup) => time(backup.createdAt),
}

const list = defineCommand({
  name: 'list',
  description: 'list the backups of a VM',
  args: '<vm>',
  example: 'backup list web-1',
  lists: true,
  run: async (ctx, _, vm: string) =>
    table(
      await ctx.list(ctx.berth.backups.list(await ctx.resolveId('vm', vm))),
      {
        NAME: (each: Backup) => each.name,
        TYPE: (each) => each.type,
        STATUS: (each) => each.status,
        SIZE: (each) => bytes(each.size),
        CREATED: (each) => time(each.createdAt),
        EXPIRES: (each) => time(each.expiresAt),
        ID: (each) => each.id,
      },
      `No backups yet. Create one: berth backup create ${vm} <name>`,
    ),
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

const create = defineCommand<{ dryRun?: true }>({
  name: 'create',
  description: 'back up a VM now',
  args: '<vm> <name>',
  example: 'backup create web-1 monday',
  waits: true,
  supportsDryRun: true,
  async run(ctx, { dryRun }, vm: string, name: string) {
    const vmId = await ctx.resolveId('vm', vm)
    if (dryRun) return quoteDetails(await ctx.berth.backups.quoteCreate(vmId, { name }))
    const started = await ctx.berth.backups.create(vmId, { name })
    const reload = () => ctx.berth.backups.get(started.vmId, started.backup.id)
    return ctx.finish(started, `backup ${name}`, async () => details(await reload(), BACKUP_FIELDS))
  },
})

const restore = defineCommand<{ withoutNetworks?: true }>({
  name: 'restore',
  description: 'restore a VM from a backup; data written since is lost',
  args: '<vm> <backup>',
  options: [['--without-networks', 'restore without private networks, if they were lost with the host']],
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

export const backup = group('backup', 'disk backups that survive the loss of the host', [list, get, create, restore, remove])
