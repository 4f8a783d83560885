import type { CreateVm as Request, OsTemplate, Plan, Region } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { sshKeysQuery } from '../../queries/account.ts'
import { plansQuery, regionsQuery, templatesQuery } from '../../queries/catalog.ts'
import { firewallsQuery, networksQuery } from '../../queries/network.ts'
import { formatOs, formatSize } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Columns, Page, Stack } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { createVmMessages as w } from '../../messages/create-vm.ts'
import { Choice } from './Choice.tsx'
import { CodeDialog } from './CodeDialog.tsx'
import css from './create-vm.module.css'
import { AddOnStep, NetworkStep } from './Extras.tsx'
import { LoginStep } from './LoginStep.tsx'
import { EMPTY_FORM, toRequest, type VmForm } from './vm-form.ts'
import { SizeStep } from './SizeStep.tsx'
import { Summary } from './Summary.tsx'

interface Catalog {
  regions: Region[]
  templates: OsTemplate[]
  plans: Plan[]
}

export default function CreateVm() {
  const regions = useQuery(regionsQuery)
  const templates = useQuery(templatesQuery)
  const plans = useQuery(plansQuery)
  return (
    <Page title={w.title} above={<TextLink to="/vms">{w.back}</TextLink>}>
      <Loaded of={regions}>
        {(allRegions) => (
          <Loaded of={templates}>
            {(allTemplates) => (
              <Loaded of={plans}>{(allPlans) => <CreateVmForm regions={allRegions} templates={allTemplates} plans={allPlans} />}</Loaded>
            )}
          </Loaded>
        )}
      </Loaded>
    </Page>
  )
}

/** Preselects region, image and plan, so that only the hostname is missing. */
function defaultForm({ regions, templates, plans }: Catalog): VmForm {
  const region = regions.find(({ available }) => available) ?? regions[0]
  const template = templates.find(({ available, deprecatedAt }) => available && !deprecatedAt) ?? templates[0]
  const plan = plans.find(({ available }) => available)
  return { ...EMPTY_FORM, regionId: region?.id ?? '', osTemplateId: template?.id ?? '', planId: plan?.id ?? '' }
}

function CreateVmForm(catalog: Catalog) {
  const [form, setForm] = useState(() => defaultForm(catalog))
  const [showsCode, setShowsCode] = useState(false)
  const keys = useQuery(sshKeysQuery())
  const networks = useQuery(networksQuery())
  const firewalls = useQuery(firewallsQuery())
  const navigate = useNavigate()
  const create = useWrite((request: Request) => berth.vms.create(request), {
    inForm: true,
    invalidates: ['vms', 'wallet', 'actions'],
    successMessage: ({ vm }) => w.accepted(vm.name),
    onDone: ({ vm }) => navigate({ to: '/vms/$vmId', params: { vmId: vm.id } }),
  })
  const set = (change: Partial<VmForm>): void => setForm((now) => ({ ...now, ...change }))
  const region = catalog.regions.find(({ id }) => id === form.regionId)
  const template = catalog.templates.find(({ id }) => id === form.osTemplateId)
  const user = template?.defaultUser ?? 'root'
  const plans = catalog.plans.filter((plan) => plan.available && (!region || plan.regions.includes(region.slug)))
  const plan = plans.find(({ id }) => id === form.planId)
  const facts: [string, string][] = [
    [w.region, region?.name ?? ''],
    [w.os, template ? formatOs(template) : ''],
    [w.size, form.kind === 'custom' ? formatSize(form) : (plan?.name ?? '')],
  ]
  return (
    <Columns side>
      <Stack>
        <Card title={w.region} about={w.regionAbout}>
          <Choice
            legend={w.region}
            name="region"
            items={catalog.regions}
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
        <Card title={w.os} about={w.osAbout}>
          <Choice
            legend={w.os}
            name="os"
            items={catalog.templates}
            value={form.osTemplateId}
            idOf={({ id }) => id}
            disabled={({ available }) => !available}
            onChange={(osTemplateId) => set({ osTemplateId })}
            columns="narrow"
          >
            {({ distribution, arch, deprecatedAt, ...template }) => (
              <>
                <span className={css['optionName']}>{formatOs(template)}</span>
                <span className={css['optionText']}>{deprecatedAt ? w.osDeprecated : `${distribution} · ${arch}`}</span>
              </>
            )}
          </Choice>
        </Card>
        <Card title={w.size}>
          <SizeStep form={form} set={set} plans={plans} />
        </Card>
        <Card title={w.login}>
          <LoginStep form={form} set={set} user={user} keys={keys.data?.items ?? []} error={create.error} />
        </Card>
        <Card title={w.networking}>
          <NetworkStep form={form} set={set} networks={networks.data?.items ?? []} firewalls={firewalls.data?.items ?? []} />
        </Card>
        <Card title={w.addOns}>
          <AddOnStep form={form} set={set} />
        </Card>
      </Stack>
      <Summary
        form={form}
        facts={facts}
        busy={create.isPending}
        error={create.error}
        onSubmit={() => create.mutate(toRequest(form))}
        onShowCode={() => setShowsCode(true)}
      />
      {showsCode && (
        <CodeDialog
          request={toRequest(form)}
          names={{ region: region?.slug ?? '', os: template?.slug ?? '', plan: plan?.slug ?? '', user }}
          onClose={() => setShowsCode(false)}
        />
      )}
    </Columns>
  )
}
