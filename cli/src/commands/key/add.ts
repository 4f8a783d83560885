import { homedir } from 'node:os'
import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { textOrFile } from '../../options.ts'
import { KEY_FIELDS } from './fields.ts'

export const add = verb({
  name: 'add',
  about: 'add a public key: as text, @file, or - for stdin',
  args: '<name> <public-key>',
  example: 'key add laptop @~/.ssh/id_ed25519.pub',
  run: async ({ berth }, _, name: string, publicKey: string) =>
    record(await berth.sshKeys.create({ name, publicKey: textOrFile(atHome(publicKey)).trim() }), KEY_FIELDS),
})

/** Shells leave the ~ of @~/… as it is. */
const atHome = (text: string): string => text.replace(/^@~\//, `@${homedir()}/`)
