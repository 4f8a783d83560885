import { said } from '../answer.ts'
import { verb } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { SCRIPTS } from '../completion/scripts.ts'

export const completion = verb({
  name: 'completion',
  about: 'the completion of commands and live names for your shell: bash, zsh or fish',
  args: '<shell>',
  example: 'completion bash > /etc/bash_completion.d/berth',
  bare: true,
  async run(_call, _options, shell: string) {
    const script = SCRIPTS[shell]
    if (script === undefined) throw wrongUsage(`There is no completion for ${shell}: use bash, zsh or fish`)
    return { ...said(script, shell, ''), text: () => script.trimEnd() }
  },
})
