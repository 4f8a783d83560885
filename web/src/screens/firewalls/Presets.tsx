import { Button } from '@mantine/core'
import type { AddRule, FirewallRule } from '@berth/sdk'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { firewallMessages as w } from '../../words/words.ts'

const PRESETS: [string, AddRule & { port: string }][] = [
  [w.presets.ssh, { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '22', description: w.presets.ssh }],
  [w.presets.web, { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '80,443', description: w.presets.web }],
  [w.presets.ping, { direction: 'IN', action: 'ACCEPT', protocol: 'ICMP', port: 'any', description: w.presets.ping }],
]

/** Each preset can be added once. The second click of a double click can arrive before the first request is pending. */
export function Presets({ firewallId, rules }: { firewallId: string; rules: FirewallRule[] }) {
  const add = useWrite((rule: AddRule) => berth.firewalls.addRule(firewallId, rule), {
    invalidates: ['firewalls'],
    successMessage: w.ruleAdded,
  })
  return (
    <>
      <span className="muted">{w.presetsLabel}</span>
      {PRESETS.map(([name, rule]) => {
        const exists = rules.some((each) => isSame(each, rule))
        const off = exists || add.isPending
        return (
          <Button
            key={name}
            variant="default"
            size="xs"
            aria-disabled={off}
            data-disabled={off || undefined}
            title={exists ? w.presetExists : undefined}
            onClick={({ detail: clicks }) => off || clicks > 1 || add.mutate(rule)}
          >
            {name}
          </Button>
        )
      })}
    </>
  )
}

const isSame = (rule: FirewallRule, preset: AddRule): boolean =>
  rule.direction === preset.direction &&
  rule.action === preset.action &&
  rule.protocol === preset.protocol &&
  rule.port === preset.port &&
  rule.sourceIps.length + rule.destIps.length === 0
