import { defineCommand } from '../command.ts'
import { SCRIPTS } from '../completion/scripts.ts'
import { usageError } from '../exit-codes.ts'
import { message } from '../result.ts'

export const completion = defineCommand({
  name: 'completion',
  description: 'print the completion script for bash, zsh or fish',
  args: '<shell>',
  example: 'completion bash > /etc/bash_completion.d/berth',
  rawOutput: true,
  async run(_ctx, _options, shell: string) {
    const script = SCRIPTS[shell]
    if (script === undefined) throw usageError(`No completion for ${shell}. Use bash, zsh or fish`)
    return { ...message(script, shell, ''), text: () => script.trimEnd() }
  },
})
