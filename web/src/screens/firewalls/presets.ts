// Rules that are wanted often.
import { firewallMessages } from '../../words/words.ts'
import { newKey, type Rule } from './rule.ts'

const w = firewallMessages.presets

const accept = (protocol: Rule['protocol'], port: string, description: string, sourceIps: string[] = []): Rule => ({
  key: newKey(),
  direction: 'IN',
  action: 'ACCEPT',
  protocol,
  port,
  sourceIps,
  destIps: [],
  description,
})

export interface Preset {
  name: string
  about: string
  rules: () => Rule[]
  /** Instead of all others. */
  replaces?: boolean
}

const ssh = (sourceIps?: string[]): Rule => accept('TCP', '22', w.ssh, sourceIps)
const ping = (): Rule[] => [accept('ICMP', 'any', w.ping), accept('ICMPV6', 'any', w.ping)]

/** `own` is the address that the browser is seen with, where it is known. */
export const presetsFor = (own: string | undefined): Preset[] => [
  { name: w.ssh, about: w.sshAbout, rules: () => [ssh()] },
  ...(own === undefined ? [] : [{ name: w.sshFromHere, about: w.sshFromHereAbout(own), rules: () => [ssh([own])] }]),
  { name: w.web, about: w.webAbout, rules: () => [accept('TCP', '80,443', w.web)] },
  { name: w.ping, about: w.pingAbout, rules: ping },
  { name: w.wireguard, about: w.wireguardAbout, rules: () => [accept('UDP', '51820', w.wireguard)] },
  {
    name: w.noMail,
    about: w.noMailAbout,
    rules: () => [{ ...accept('TCP', '25', w.noMail), direction: 'OUT', action: 'REJECT' }],
  },
  { name: w.sshOnly, about: w.sshOnlyAbout, rules: () => [ssh(), ...ping()], replaces: true },
]

export const DATABASES = [
  { name: 'PostgreSQL', port: '5432' },
  { name: 'MySQL, MariaDB', port: '3306' },
  { name: 'Redis, Valkey', port: '6379' },
  { name: 'MongoDB', port: '27017' },
] as const

export const databaseRule = ({ name, port }: (typeof DATABASES)[number], cidr: string): Rule => accept('TCP', port, name, [cidr])
