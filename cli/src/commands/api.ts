// Anything of the API, also what has no command of its own.
import { defineCommand } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { parseJson } from '../options.ts'
import type { CommandResult } from '../result.ts'
import { escapeJson } from '../style.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export const api = defineCommand<{ data?: string }>({
  name: 'api',
  description: 'call the API directly and print the data that it answers, as JSON',
  args: '<method> <path>',
  options: [['-d, --data <json>', 'the body: JSON, @file, or - for stdin']],
  example: 'api POST /networks -d \'{"name": "backend", "nodeId": "c…", "cidr": "10.0.0.0/24"}\'',
  async run({ berth }, { data }, method: string, path: string): Promise<CommandResult> {
    const verbOf = method.toUpperCase()
    if (!METHODS.includes(verbOf)) throw usageError(`${method} is no method: use one of ${METHODS.join(', ')}`)
    const body = data === undefined ? undefined : parseJson('--data', data)
    const answer = await berth.request({ method: verbOf, path: path.startsWith('/') ? path : `/${path}`, body })
    return { data: answer, names: [escapeJson(answer)], text: () => escapeJson(answer, 2) }
  },
})
