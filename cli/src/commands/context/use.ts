import { said } from '../../answer.ts'
import { verb } from '../../command.ts'
import { readContexts, serverOf, writeContexts } from '../../contexts.ts'

export const use = verb({
  name: 'use',
  about: 'talk to this server from now on',
  args: '<context>',
  example: 'context use production',
  async run({ io }, _, name: string) {
    const { url } = serverOf({ ...io.env, BERTH_URL: '' }, name)
    writeContexts(io.env, { ...readContexts(io.env), current: name })
    return said({ name, url }, name, `Commands now go to ${name}, ${url}`)
  },
})
