// MAC addresses of our own making.
import { randomBytes } from 'node:crypto'

/** Random, unicast and locally administered. `02` comes first because hypervisors keep `fe` for their own end of an interface. */
export const randomMac = (): string => [0x02, ...randomBytes(5)].map((octet) => octet.toString(16).padStart(2, '0')).join(':')
