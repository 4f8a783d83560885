import { Checkbox } from '@mantine/core'
import type { Firewall } from '@berth/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { firewallMessages as w } from '../../words/words.ts'
import { toApi } from './rule.ts'
import { RuleChanges, useLocksOut } from './RuleChanges.tsx'
import type { Draft } from './useDraft.ts'

const CONFIRM_SECONDS = 120

/** What would change before anything happens. */
export function ReviewDialog({ firewall, draft, onClose }: { firewall: Firewall; draft: Draft; onClose: () => void }) {
  const { before, rules, changes } = draft
  const client = useQueryClient()
  const locksOut = useLocksOut({ before, after: rules })
  const [confirms, setConfirms] = useState<boolean | null>(null)
  const isConfirmed = confirms ?? locksOut
  const apply = useWrite(
    () =>
      berth.firewalls.replaceRules(firewall.id, rules.map(toApi), {
        basedOn: draft.basedOn,
        ...(isConfirmed && { confirmWithinSeconds: CONFIRM_SECONDS }),
      }),
    {
      inForm: true,
      successMessage: isConfirmed ? w.appliedUnconfirmed : w.appliedRules,
      onDone: async () => {
        // Or the rules before would be shown for a moment.
        await client.invalidateQueries({ queryKey: ['firewalls'] })
        draft.discard()
        onClose()
      },
    },
  )
  return (
    <Dialog title={w.reviewTitle} onClose={onClose} size="lg">
      <Form onSubmit={() => apply.mutate()} busy={apply.isPending} error={apply.error} submit={w.apply(changes.length)} onCancel={onClose}>
        <RuleChanges firewall={firewall} before={before} after={rules} />
        <Checkbox
          label={w.confirmLabel(CONFIRM_SECONDS / 60)}
          description={w.confirmAbout}
          checked={isConfirmed}
          onChange={(event) => setConfirms(event.currentTarget.checked)}
        />
      </Form>
    </Dialog>
  )
}
