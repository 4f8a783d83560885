import { Button } from '@mantine/core'
import type { AddRule, FirewallRule } from '@berth/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { rulesQuery } from '../../queries/network.ts'
import { Card, Row } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/States.tsx'
import { firewallWords as w } from '../../words/firewalls.ts'
import css from './firewalls.module.css'
import { RuleDialog } from './RuleDialog.tsx'
import { RuleRow } from './RuleRow.tsx'

const QUICK: [string, AddRule][] = [
  [w.presets.ssh, { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '22', description: w.presets.ssh }],
  [w.presets.web, { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '80,443', description: w.presets.web }],
  [w.presets.ping, { direction: 'IN', action: 'ACCEPT', protocol: 'ICMP', description: w.presets.ping }],
]

const changes = ['firewalls']

export function Rules({ firewallId }: { firewallId: string }) {
  const rules = useQuery(rulesQuery(firewallId))
  const [edited, setEdited] = useState<FirewallRule | 'new' | null>(null)
  const add = useWrite((rule: AddRule) => berth.firewalls.addRule(firewallId, rule), { changes, says: w.saved })
  const remove = useWrite((id: string) => berth.firewalls.deleteRule(firewallId, id), { changes, says: w.ruleDeleted })
  const { order, move, target, setTarget, said } = useOrder(firewallId, rules.data ?? [])
  const actions = (
    <Row>
      <span className="muted">{w.presetsLabel}</span>
      {QUICK.map(([name, rule]) => (
        <Button key={name} variant="default" size="xs" onClick={() => add.mutate(rule)}>
          {name}
        </Button>
      ))}
      <Button size="xs" onClick={() => setEdited('new')}>
        {w.addRule}
      </Button>
    </Row>
  )
  return (
    <Card flush title={w.rules} about={w.rulesAbout} actions={actions}>
      <Loaded of={rules} lines={3}>
        {() =>
          order.length === 0 ? (
            <p className={css['none']}>{w.noRules}</p>
          ) : (
            <ol className={css['rules']} aria-label={w.rules}>
              {order.map((rule, index) => (
                <RuleRow
                  key={rule.id}
                  rule={rule}
                  index={index}
                  isTarget={target === index}
                  onDragOver={() => setTarget(index)}
                  onDrop={(from) => move(from, index)}
                  onMove={(by) => move(index, index + by)}
                  onEdit={() => setEdited(rule)}
                  onDelete={() => remove.mutate(rule.id)}
                />
              ))}
            </ol>
          )
        }
      </Loaded>
      <div className="hidden" role="status">
        {said}
      </div>
      {edited && <RuleDialog firewallId={firewallId} rule={edited === 'new' ? undefined : edited} onClose={() => setEdited(null)} />}
    </Card>
  )
}

/** The new order is on screen at once; the server has it a moment later, or it springs back. */
function useOrder(firewallId: string, order: FirewallRule[]) {
  const client = useQueryClient()
  const [target, setTarget] = useState<number | null>(null)
  const [said, setSaid] = useState('')
  const write = useWrite(({ id, position }: { id: string; position: number }) => berth.firewalls.updateRule(firewallId, id, { position }), {
    changes,
  })
  const move = (from: number, to: number): void => {
    setTarget(null)
    const rule = order[from]
    if (!rule || from === to || to < 0 || to >= order.length) return
    const others = order.filter((each) => each !== rule)
    client.setQueryData(rulesQuery(firewallId).queryKey, others.toSpliced(to, 0, rule))
    setSaid(w.moved(from + 1, to + 1))
    write.mutate({ id: rule.id, position: to + 1 }, { onError: () => void client.invalidateQueries({ queryKey: changes }) })
  }
  return { order, move, target, setTarget, said }
}
