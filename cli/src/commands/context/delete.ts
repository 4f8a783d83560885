import { said } from '../../answer.ts'
import { verb } from '../../command.ts'
import { contextOf, readContexts, writeContexts } from '../../contexts.ts'

export const remove = verb({
  name: 'delete',
  about: 'forget a server and its token; the token stays valid',
  args: '<context>',
  example: 'context delete staging',
  async run({ io }, _, name: string) {
    contextOf(io.env, name)
    const { current, contexts } = readContexts(io.env)
    const { [name]: _gone, ...rest } = contexts
    writeContexts(io.env, { current: current === name ? null : current, contexts: rest })
    return said({ name }, name, `${name} is forgotten`)
  },
})
