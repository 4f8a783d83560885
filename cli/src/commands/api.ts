// Anything of the API, also what has no command of its own.
import type { Answer } from '../answer.ts'
import { verb } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { json } from '../options.ts'
import { harmlessJson } from '../style.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export const api = verb<{ data?: string }>({
  name: 'api',
  about: 'call the API directly and print the data that it answers, as JSON',
  args: '<method> <path>',
  options: [['-d, --data <json>', 'the body: JSON, @file, or - for stdin']],
  example: 'api POST /networks -d \'{"name": "backend", "nodeId": "c…", "cidr": "10.0.0.0/24"}\'',
  async run({ berth }, { data }, method: string, path: string): Promise<Answer> {
    const verbOf = method.toUpperCase()
    if (!METHODS.includes(verbOf)) throw wrongUsage(`${method} is no method: use one of ${METHODS.join(', ')}`)
    const body = data === undefined ? undefined : json('--data', data)
    const answer = await berth.request({ method: verbOf, path: path.startsWith('/') ? path : `/${path}`, body })
    return { data: answer, names: [harmlessJson(answer)], text: () => harmlessJson(answer, 2) }
  },
})
