// Calls any API operation, including those without a command.
import { defineCommand } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { parseJson } from '../options.ts'
import type { CommandResult } from '../result.ts'
import { escapeJson } from '../style.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export const api = defineCommand<{ data?: string }>({
  name: 'api',
  description: 'call the API directly and print the response data as JSON',
  args: '<method> <path>',
  options: [['-d, --data <json>', 'request body: JSON, @file, or - for stdin']],
  example: 'api POST /networks -d \'{"name": "backend", "nodeId": "c…", "cidr": "10.0.0.0/24"}\'',
  async run({ berth }, { data }, method: string, path: string): Promise<CommandResult> {
    const upper = method.toUpperCase()
    if (!METHODS.includes(upper)) throw usageError(`${method} is not a supported method. Use one of ${METHODS.join(', ')}`)
    const body = data === undefined ? undefined : parseJson('--data', data)
    const response = await berth.request({ method: upper, path: path.startsWith('/') ? path : `/${path}`, body })
    return { data: response, names: [escapeJson(response)], text: () => escapeJson(response, 2) }
  },
})
