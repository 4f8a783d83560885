import { homedir } from 'node:os'
import type { SshKey } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { labelText, time } from '../format.ts'
import { LABEL, labelsOf, readTextOrFile, SELECTOR, selectorOf } from '../options.ts'
import { details, message, table, type Columns } from '../result.ts'

const KEY_FIELDS: Columns<SshKey> = {
  Name: (key) => key.name,
  Id: (key) => key.id,
  Type: (key) => key.type,
  Fingerprint: (key) => key.fingerprint,
  'Public key': (key) => key.publicKey,
  VMs: (key) => key.vmCount,
  Labels: ({ labels }) => labelText(labels) || undefined,
  Created: (key) => time(key.createdAt),
}

const list = defineCommand<{ selector?: string }>({
  name: 'list',
  description: 'list SSH keys',
  options: [SELECTOR],
  example: 'key list',
  lists: true,
  run: async (ctx, options) =>
    table(
      await ctx.list(ctx.berth.sshKeys.list(selectorOf(options))),
      {
        NAME: (each: SshKey) => each.name,
        TYPE: (each) => each.type,
        FINGERPRINT: (each) => each.fingerprint,
        VMS: (each) => each.vmCount,
      },
      'No SSH keys yet. Add one: berth key add laptop @~/.ssh/id_ed25519.pub',
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show an SSH key',
  args: '<key>',
  example: 'key get laptop',
  run: async (ctx, _, key: string) => details(await ctx.berth.sshKeys.get(await ctx.resolveId('key', key)), KEY_FIELDS),
})

const add = defineCommand<{ label?: string[] }>({
  name: 'add',
  description: 'add a public key: text, @file, or - for stdin',
  args: '<name> <public-key>',
  options: [LABEL],
  example: 'key add laptop @~/.ssh/id_ed25519.pub',
  run: async ({ berth }, options, name: string, publicKey: string) =>
    details(
      await berth.sshKeys.create({ name, publicKey: readTextOrFile(expandHome(publicKey)).trim(), ...labelsOf(options) }),
      KEY_FIELDS,
    ),
})

/** Shells do not expand the ~ of @~/… */
const expandHome = (text: string): string => text.replace(/^@~\//, `@${homedir()}/`)

const rename = defineCommand({
  name: 'rename',
  description: 'rename an SSH key',
  args: '<key> <name>',
  example: 'key rename laptop old-laptop',
  async run(ctx, _, key: string, name: string) {
    const renamed = await ctx.berth.sshKeys.rename(await ctx.resolveId('key', key), name)
    return message(renamed, renamed.name, `${key} renamed to ${renamed.name}`)
  },
})

const remove = defineCommand({
  name: 'delete',
  description: 'delete an SSH key; VMs keep installed copies',
  args: '<key>',
  example: 'key delete laptop',
  confirms: true,
  async run(ctx, _, key: string) {
    const id = await ctx.resolveId('key', key)
    await ctx.confirm(`SSH key ${key} will be permanently deleted. VMs keep installed copies.`, key)
    return message(await ctx.berth.sshKeys.delete(id), key, `SSH key ${key} deleted`)
  },
})

export const key = group('key', 'SSH keys for new VMs', [list, get, add, rename, remove])
