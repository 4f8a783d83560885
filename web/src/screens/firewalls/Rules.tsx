import { Button } from '@mantine/core'
import type { FirewallRule } from '@berth/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { rulesQuery } from '../../queries/network.ts'
import { Card, Row } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { firewallMessages as w } from '../../words/words.ts'
import css from './firewalls.module.css'
import { Presets } from './Presets.tsx'
import { RuleDialog } from './RuleDialog.tsx'
import { RuleRow } from './RuleRow.tsx'

const invalidates = ['firewalls']

export function Rules({ firewallId }: { firewallId: string }) {
  const rules = useQuery(rulesQuery(firewallId))
  const [edited, setEdited] = useState<FirewallRule | 'new' | null>(null)
  const remove = useWrite((id: string) => berth.firewalls.deleteRule(firewallId, id), { invalidates, successMessage: w.ruleDeleted })
  const { order, move, target, setTarget, announcement } = useOrder(firewallId, rules.data ?? [])
  const positionOf = (id: string): number => order.findIndex((rule) => rule.id === id)
  const actions = (
    <Row>
      <Presets firewallId={firewallId} rules={order} />
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
                  onDrop={(id) => move(positionOf(id), index)}
                  onMove={(by) => move(index, index + by)}
                  onEdit={() => setEdited(rule)}
                  onDelete={() => remove.mutate(rule.id)}
                />
              ))}
            </ol>
          )
        }
      </Loaded>
      <output className="hidden">{announcement}</output>
      {edited && <RuleDialog firewallId={firewallId} rule={edited === 'new' ? undefined : edited} onClose={() => setEdited(null)} />}
    </Card>
  )
}

/** Optimistic reordering: the new order is shown at once and reverted if the server rejects it. */
function useOrder(firewallId: string, order: FirewallRule[]) {
  const client = useQueryClient()
  const [target, setTarget] = useState<number | null>(null)
  const [announcement, setAnnouncement] = useState('')
  const write = useWrite(({ id, position }: { id: string; position: number }) => berth.firewalls.updateRule(firewallId, id, { position }), {
    invalidates,
  })
  const move = (from: number, to: number): void => {
    setTarget(null)
    const rule = order[from]
    if (!rule || from === to || to < 0 || to >= order.length) return
    const others = order.filter((each) => each !== rule)
    client.setQueryData(rulesQuery(firewallId).queryKey, others.toSpliced(to, 0, rule))
    setAnnouncement(w.moved(from + 1, to + 1))
    write.mutate({ id: rule.id, position: to + 1 }, { onError: () => void client.invalidateQueries({ queryKey: invalidates }) })
  }
  return { order, move, target, setTarget, announcement }
}
