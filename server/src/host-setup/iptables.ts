// A chain of Berth's own in a table of the machine: replaced and removed as a whole, whatever rules others have.
import { run } from './shell.ts'

export interface Chain {
  tool: 'iptables' | 'ip6tables' | 'arptables-nft'
  table: 'nat' | 'filter' | 'raw'
  parent: string
  name: string
  /** As the tool lists them. */
  rules: string[]
  /** One of them that kernels without its module go without. */
  optional?: { rule: string; isSupported: () => Promise<boolean> }
  /** Inserted before the rules of the machine's own firewall. */
  first?: true
}

export async function isInstalled({ tool, table, parent, name, rules, optional }: Chain): Promise<boolean> {
  const left = optional && !(await optional.isSupported()) ? optional.rule : null
  const listed = await run(tool, '-t', table, '-S').catch(() => '')
  const lines = listed.split('\n').map((line) => line.trim())
  const own = lines.filter((line) => line.startsWith(`-A ${name} `)).map((line) => line.slice(`-A ${name} `.length))
  return lines.includes(`-A ${parent} -j ${name}`) && own.join('\n') === rules.filter((rule) => rule !== left).join('\n')
}

/** For `sh -e`, also where there is none. */
export const removeCommands = ({ tool, table, parent, name }: Omit<Chain, 'rules' | 'optional'>): string =>
  [`-D ${parent} -j ${name}`, `-F ${name}`, `-X ${name}`].map((rest) => `${tool} -w -t ${table} ${rest} 2>/dev/null || true`).join('\n')

/** For `sh -e`; idempotent. */
export function chainCommands({ tool, table, parent, name, rules, optional, first }: Chain): string {
  const command = `${tool}${tool === 'arptables-nft' ? '' : ' -w'} -t ${table}`
  return `
${command} -N ${name} 2>/dev/null || ${command} -F ${name}
${rules.map((rule) => `${command} -A ${name} ${rule}${rule === optional?.rule ? ' 2>/dev/null || true' : ''}`).join('\n')}
${command} -S | grep -qx -e '-A ${parent} -j ${name} *' || ${command} ${first ? '-I' : '-A'} ${parent} -j ${name}
`
}
