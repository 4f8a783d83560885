// What a failed call of Ceph's programs means, whose own texts are lines of a log.
import type { RbdBackend } from '../../hypervisor/rbd/access.ts'

/** `text` is what the program printed. Undefined where only that can be shown. */
export function explainCephFailure(text: string, { monitors, pool, user }: RbdBackend): string | undefined {
  if (text.includes('handle_auth_bad_method'))
    return `the cluster refuses the user ${user} with this key: compare it with \`ceph auth get client.${user}\``
  if (/error opening pool .*\(2\)/.test(text))
    return `the cluster has no such pool: make it with \`ceph osd pool create ${pool} && rbd pool init ${pool}\``
  if (text.includes('Operation not permitted'))
    return `the user ${user} may not use it: compare \`ceph auth get client.${user}\` with docs/operate/hosts.md#storage-backends`
  if (text.includes('authenticate timed out')) return `no monitor answers at ${monitors.join(', ')}`
  return undefined
}
