import { said } from '../../answer.ts'
import { verb } from '../../command.ts'
import { contextOf, readContexts, whatOverrules, writeContexts } from '../../contexts.ts'

export const use = verb({
  name: 'use',
  about: 'talk to this server from now on',
  args: '<context>',
  example: 'context use production',
  async run(call, _, name: string) {
    const { env } = call.io
    const { url } = contextOf(env, name)
    writeContexts(env, { ...readContexts(env), current: name })
    const overruled = whatOverrules(env, name)
    if (overruled) call.note(overruled)
    return said({ name, url }, name, overruled ? `${name}, ${url}, is the current context now` : `Commands now go to ${name}, ${url}`)
  },
})
