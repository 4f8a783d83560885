import type { CreateVm as Request, OsTemplate } from '@berth/sdk'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { sessionQuery, type Session } from '../../api/session.ts'
import { sshKeysQuery } from '../../queries/account.ts'
import { plansQuery, regionsQuery, templatesQuery } from '../../queries/catalog.ts'
import { firewallsQuery, networksQuery } from '../../queries/network.ts'
import { formatOs, formatSize } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Columns, Page, Stack } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { createVmMessages as w } from '../../messages/create-vm.ts'
import { Choice } from './Choice.tsx'
import { availableFirst, hasImage, initialForm, type Choices } from './choices.ts'
import { CodeDialog } from './CodeDialog.tsx'
import css from './create-vm.module.css'
import { dropDraft, readDraft, saveDraft } from './draft.ts'
import { AddOnStep, NetworkStep } from './Extras.tsx'
import { LoginStep } from './LoginStep.tsx'
import { useQuote } from './quote.ts'
import { toRequest, type VmForm } from './vm-form.ts'
import { SizeStep } from './SizeStep.tsx'
import { Summary } from './Summary.tsx'

export default function CreateVm() {
  const session = useQuery(sessionQuery).data
  const choices = useQueries({
    queries: [regionsQuery, templatesQuery, plansQuery, sshKeysQuery(), networksQuery(), firewallsQuery()],
    combine: ([regions, templates, plans, keys, networks, firewalls]) => {
      const all = [regions, templates, plans, keys, networks, firewalls]
      const isLoaded = regions.data && templates.data && plans.data && keys.data && networks.data && firewalls.data
      const data: Choices | undefined = isLoaded && {
        regions: regions.data,
        templates: templates.data,
        plans: plans.data,
        keys: keys.data.items,
        networks: networks.data.items,
        firewalls: firewalls.data.items,
      }
      const error = all.find((each) => each.error)?.error ?? null
      const errorUpdatedAt = Math.max(...all.map((each) => each.errorUpdatedAt))
      return { data, error, errorUpdatedAt, refetch: () => all.forEach((each) => void each.refetch()) }
    },
  })
  return (
    <Page title={w.title} above={<TextLink to="/vms">{w.back}</TextLink>}>
      <Loaded of={choices}>{(data) => session && <CreateVmForm choices={data} session={session} />}</Loaded>
    </Page>
  )
}

function CreateVmForm({ choices, session: { user } }: { choices: Choices; session: Session }) {
  const [form, setForm] = useState(() => initialForm(choices, readDraft(user.id)))
  const [showsCode, setShowsCode] = useState(false)
  const navigate = useNavigate()
  const create = useWrite((request: Request) => berth.vms.create(request), {
    inForm: true,
    invalidates: ['vms', 'wallet', 'actions'],
    successMessage: ({ vm }) => w.accepted(vm.name),
    onDone: async ({ vm }) => {
      await navigate({ to: '/vms/$vmId', params: { vmId: vm.id } })
      dropDraft(user.id)
    },
  })
  useEffect(() => saveDraft(user.id, form), [user.id, form])
  const set = (change: Partial<VmForm>): void => setForm((now) => ({ ...now, ...change }))
  const { price, refusal } = useQuote(form)
  const problem = create.error ?? refusal
  const region = choices.regions.find(({ id }) => id === form.regionId)
  const template = choices.templates.find(({ id }) => id === form.osTemplateId)
  const defaultUser = template?.defaultUser ?? 'root'
  const plans = choices.plans.filter((plan) => plan.available && (!region || plan.regions.includes(region.slug)))
  const plan = plans.find(({ id }) => id === form.planId)
  const facts: [string, string][] = [
    [w.region, region?.name ?? ''],
    [w.os, template ? formatOs(template) : ''],
    [w.size, form.kind === 'custom' ? formatSize(form) : (plan?.name ?? '')],
    ...(form.publicIpv4 ? [] : [[w.publicAddress, w.ipv6Only] as [string, string]]),
  ]
  return (
    <Columns side>
      <Stack>
        <Card title={w.region} about={w.regionAbout}>
          <Choice
            legend={w.region}
            name="region"
            items={choices.regions}
            value={form.regionId}
            idOf={({ id }) => id}
            disabled={({ available }) => !available}
            onChange={(regionId) => set({ regionId })}
          >
            {({ name, city, flag, available }) => (
              <>
                <span className={css['optionName']}>
                  <span aria-hidden="true">{flag}</span> {name}
                </span>
                <span className={css['optionText']}>{available ? city : w.regionFull}</span>
              </>
            )}
          </Choice>
        </Card>
        <Card title={w.os} about={<OsAbout templates={choices.templates} isOperator={user.isOperator} />}>
          <Choice
            legend={w.os}
            name="os"
            items={availableFirst(choices.templates)}
            value={form.osTemplateId}
            idOf={({ id }) => id}
            disabled={({ available }) => !available}
            onChange={(osTemplateId) => set({ osTemplateId })}
            columns="narrow"
          >
            {(template) => (
              <>
                <span className={css['optionName']}>{formatOs(template)}</span>
                <span className={css['optionText']}>{unavailableReason(template) ?? `${template.distribution} · ${template.arch}`}</span>
              </>
            )}
          </Choice>
        </Card>
        <Card title={w.size}>
          <SizeStep form={form} set={set} plans={plans} />
        </Card>
        <Card title={w.login}>
          <LoginStep form={form} set={set} user={defaultUser} keys={choices.keys} error={problem} />
        </Card>
        <Card title={w.networking}>
          <NetworkStep form={form} set={set} networks={choices.networks} firewalls={choices.firewalls} />
        </Card>
        <Card title={w.addOns}>
          <AddOnStep form={form} set={set} />
        </Card>
      </Stack>
      <Summary
        form={form}
        facts={facts}
        price={price}
        busy={create.isPending}
        error={problem}
        onSubmit={() => create.mutate(toRequest(form))}
        onShowCode={() => setShowsCode(true)}
      />
      {showsCode && (
        <CodeDialog
          request={toRequest(form)}
          names={{ region: region?.slug ?? '', os: template?.slug ?? '', plan: plan?.slug ?? '', user: defaultUser }}
          onClose={() => setShowsCode(false)}
        />
      )}
    </Columns>
  )
}

/** Null if the template can be chosen and is current. */
function unavailableReason({ available, checksum, deprecatedAt }: OsTemplate): string | null {
  if (deprecatedAt) return w.osDeprecated
  if (available) return null
  return hasImage({ checksum }) ? w.osNotOffered : w.osNoImage
}

/** Operators learn where the missing images come from. */
const OsAbout = ({ templates, isOperator }: { templates: OsTemplate[]; isOperator: boolean }) => (
  <>
    {w.osAbout}{' '}
    {isOperator && templates.some((each) => !each.available && !hasImage(each)) && (
      <TextLink to="/operator/templates">{w.osImport}</TextLink>
    )}
  </>
)
