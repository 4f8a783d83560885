import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const rename = verb({
  name: 'rename',
  about: 'give a key another name',
  args: '<key> <name>',
  example: 'key rename laptop old-laptop',
  async run(call, _, key: string, name: string) {
    const renamed = await call.berth.sshKeys.rename(await call.id('key', key), name)
    return said(renamed, renamed.name, `${key} is now called ${renamed.name}`)
  },
})
