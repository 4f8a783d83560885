import { homedir } from 'node:os'
import type { SshKey } from '@berth/sdk'
import { record, rows, said, type Columns } from '../answer.ts'
import { group, verb } from '../command.ts'
import { time } from '../format.ts'
import { textOrFile } from '../options.ts'

const KEY_FIELDS: Columns<SshKey> = {
  Name: (key) => key.name,
  Id: (key) => key.id,
  Type: (key) => key.type,
  Fingerprint: (key) => key.fingerprint,
  'Public key': (key) => key.publicKey,
  VMs: (key) => key.vmCount,
  Created: (key) => time(key.createdAt),
}

const list = verb({
  name: 'list',
  about: 'list your SSH keys',
  example: 'key list',
  run: async ({ berth }) =>
    rows(
      await berth.sshKeys.list().all(),
      {
        NAME: (each: SshKey) => each.name,
        TYPE: (each) => each.type,
        FINGERPRINT: (each) => each.fingerprint,
        VMS: (each) => each.vmCount,
      },
      'There is no key yet: berth key add laptop @~/.ssh/id_ed25519.pub',
    ),
})

const get = verb({
  name: 'get',
  about: 'show an SSH key',
  args: '<key>',
  example: 'key get laptop',
  run: async (call, _, key: string) => record(await call.berth.sshKeys.get(await call.id('key', key)), KEY_FIELDS),
})

const add = verb({
  name: 'add',
  about: 'add a public key: as text, @file, or - for stdin',
  args: '<name> <public-key>',
  example: 'key add laptop @~/.ssh/id_ed25519.pub',
  run: async ({ berth }, _, name: string, publicKey: string) =>
    record(await berth.sshKeys.create({ name, publicKey: textOrFile(atHome(publicKey)).trim() }), KEY_FIELDS),
})

/** Shells leave the ~ of @~/… as it is. */
const atHome = (text: string): string => text.replace(/^@~\//, `@${homedir()}/`)

const rename = verb({
  name: 'rename',
  about: 'give a key another name',
  args: '<key> <name>',
  example: 'key rename laptop old-laptop',
  async run(call, _, key: string, name: string) {
    const renamed = await call.berth.sshKeys.rename(await call.id('key', key), name)
    return said(renamed, renamed.name, `${key} is now called ${renamed.name}`)
  },
})

const remove = verb({
  name: 'delete',
  about: 'forget a key; VMs that have it keep it',
  args: '<key>',
  example: 'key delete laptop',
  asks: true,
  async run(call, _, key: string) {
    const id = await call.id('key', key)
    await call.confirm(`Key ${key} will be gone; VMs that have it keep it.`, key)
    return said(await call.berth.sshKeys.delete(id), key, `Key ${key} is gone`)
  },
})

export const key = group('key', 'SSH keys that may log in to new VMs', [list, get, add, rename, remove])
