import { said } from '../../answer.ts'
import { verb } from '../../command.ts'
import { contextOf, readContexts, writeContexts } from '../../contexts.ts'

export const remove = verb({
  name: 'delete',
  about: 'forget a server and its token; the token stays valid',
  args: '<context>',
  example: 'context delete staging',
  asks: true,
  async run(call, _, name: string) {
    const { env } = call.io
    const { url } = contextOf(env, name)
    await call.confirm(`The token for ${url} will be forgotten.`, name)
    const { current, contexts } = readContexts(env)
    const { [name]: _gone, ...rest } = contexts
    writeContexts(env, { current: current === name ? null : current, contexts: rest })
    return said({ name }, name, `${name} is forgotten`)
  },
})
