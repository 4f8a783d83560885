// /etc/berth/berth.env as a new installation has it: every setting with its default, as a comment.
import { SETTINGS } from '../../server/src/config.ts'

/** Set by units and wrapper, or a path of the machine that built the package. */
const LEFT_OUT = ['BERTH_DATA_DIR', 'BERTH_WEB_DIR']

export function settingsTemplate(): string {
  const lines = Object.values(SETTINGS)
    .filter(({ variable }) => !LEFT_OUT.includes(variable))
    .map(({ variable, about, fallback }) => `\n# ${about}.\n#${variable}=${fallback ?? ''}\n`)
  return `# Settings of Berth: "sudo berthd setup" asks for those that every installation needs. One NAME=value per line; quote a value with spaces or #\n# by '. After a change: sudo systemctl restart berth-worker berth-api\n${lines.join('')}`
}
