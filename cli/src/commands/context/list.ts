import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { readContexts } from '../../contexts.ts'

interface Context {
  name: string
  url: string
  current: boolean
}

export const list = verb({
  name: 'list',
  about: 'list servers, without their tokens',
  example: 'context list',
  async run({ io }) {
    const { current, contexts } = readContexts(io.env)
    return rows<Context>(
      Object.entries(contexts).map(([name, { url }]) => ({ name, url, current: name === current })),
      { NAME: (each) => each.name, SERVER: (each) => each.url, CURRENT: (each) => each.current },
      'You are not signed in. Run: berth login',
    )
  },
})
