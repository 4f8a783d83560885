import type { CreateVm as Request, Image, OsTemplate } from '@berth/sdk'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { sessionQuery, type Session } from '../../api/session.ts'
import { sshKeysQuery } from '../../queries/account.ts'
import { availabilityQuery, plansQuery, regionsQuery, templatesQuery } from '../../queries/catalog.ts'
import { bootableImagesQuery, templateSlugOf } from '../../queries/images.ts'
import { firewallsQuery, networksQuery } from '../../queries/network.ts'
import { backupQuery, placementGroupsQuery, vmQuery } from '../../queries/vms.ts'
import { formatDisk, formatMoney, formatOs, formatSize } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Columns, Page, Stack } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import type { ListSearch } from '../../ui/paging.ts'
import { createVmMessages as w } from '../../words/words.ts'
import { Choice } from './Choice.tsx'
import { availableFirst, hasImage, initialForm, obstacleIn, obstacleTo, type BackupSource, type Choices } from './choices.ts'
import { CodeDialog } from './CodeDialog.tsx'
import css from './create-vm.module.css'
import { dropDraft, readDraft, saveDraft } from './draft.ts'
import { AddOnStep, NetworkStep } from './Extras.tsx'
import { LoginStep } from './LoginStep.tsx'
import { useQuote } from './quote.ts'
import { alternativeOf, toRequest, type VmForm } from './vm-form.ts'
import { SizeStep } from './SizeStep.tsx'
import { Summary } from './Summary.tsx'

export default function CreateVm() {
  const session = useQuery(sessionQuery).data
  const { vm: vmId, backup: backupId, image: imageId }: ListSearch = useSearch({ strict: false })
  const choices = useQueries({
    queries: [
      regionsQuery,
      templatesQuery,
      bootableImagesQuery,
      plansQuery,
      sshKeysQuery(),
      networksQuery(),
      firewallsQuery(),
      placementGroupsQuery(),
    ],
    combine: ([regions, templates, images, plans, keys, networks, firewalls, groups]) => {
      const all = [regions, templates, images, plans, keys, networks, firewalls, groups]
      const isLoaded =
        regions.data && templates.data && images.data && plans.data && keys.data && networks.data && firewalls.data && groups.data
      const data: Choices | undefined = isLoaded && {
        regions: regions.data,
        templates: templates.data,
        images: images.data,
        plans: plans.data,
        keys: keys.data.items,
        networks: networks.data.items,
        firewalls: firewalls.data.items,
        groups: groups.data.items,
      }
      const error = all.find((each) => each.error)?.error ?? null
      const errorUpdatedAt = Math.max(...all.map((each) => each.errorUpdatedAt))
      return { data, error, errorUpdatedAt, refetch: () => all.forEach((each) => void each.refetch()) }
    },
  })
  return (
    <Page title={w.title} above={<TextLink to="/vms">{w.back}</TextLink>}>
      <Loaded of={choices}>
        {(data) =>
          session &&
          (vmId && backupId ? (
            <FromBackup key={backupId} choices={data} session={session} vmId={vmId} backupId={backupId} />
          ) : (
            <CreateVmForm key={imageId} choices={data} session={session} source={null} imageId={imageId} />
          ))
        }
      </Loaded>
    </Page>
  )
}

interface Props {
  choices: Choices
  session: Session
}

function FromBackup({ vmId, backupId, ...props }: Props & { vmId: string; backupId: string }) {
  const [vm, backup] = [useQuery(vmQuery(vmId)), useQuery(backupQuery(vmId, backupId))]
  return (
    <Loaded of={vm}>
      {(foundVm) => <Loaded of={backup}>{(found) => <CreateVmForm {...props} source={{ vm: foundVm, backup: found }} />}</Loaded>}
    </Loaded>
  )
}

interface FormProps extends Props {
  source: BackupSource | null
  /** The image to begin with, and a plan that is large enough for it. */
  imageId?: string
}

function CreateVmForm({ choices, session: { user }, source, imageId }: FormProps) {
  const [form, setForm] = useState(() => {
    const draft = readDraft(user.id)
    return initialForm(choices, imageId ? { ...draft, osTemplateId: imageId, planId: undefined } : draft, source)
  })
  const [showsCode, setShowsCode] = useState(false)
  const navigate = useNavigate()
  const create = useWrite((request: Request) => berth.vms.create(request), {
    inForm: true,
    invalidates: ['vms', 'wallet', 'actions'],
    successMessage: ({ vm, vms }) => (vms ? w.acceptedSeveral(vms.length) : w.accepted(vm.name)),
    onDone: async ({ vm, vms }) => {
      await (vms ? navigate({ to: '/vms' }) : navigate({ to: '/vms/$vmId', params: { vmId: vm.id } }))
      dropDraft(user.id)
    },
  })
  useEffect(() => saveDraft(user.id, form), [user.id, form])
  const set = (change: Partial<VmForm>): void => setForm((now) => ({ ...now, ...change }))
  const { price, refusal } = useQuote(form)
  const problem = create.error ?? refusal
  const region = choices.regions.find(({ id }) => id === form.regionId)
  const template = choices.templates.find(({ id }) => id === form.osTemplateId)
  const image = choices.images.find((each) => (source ? templateSlugOf(each) === source.vm.osTemplate.slug : each.id === form.osTemplateId))
  const defaultUser = image?.defaultUser ?? template?.defaultUser ?? 'root'
  const plans = choices.plans.filter((plan) => plan.available && (!region || plan.regions.includes(region.slug)))
  const plan = plans.find(({ id }) => id === form.planId)
  const availability = useQuery(availabilityQuery).data ?? []
  const arch = source?.vm.osTemplate.arch ?? image?.arch ?? template?.arch ?? ''
  const inWords = (code: keyof typeof w.obstacles | null): string | null => code && w.obstacles[code]
  const others = choices.regions
    .filter(({ available }) => available)
    .flatMap((each) =>
      choices.plans.filter(({ available, regions }) => available && regions.includes(each.slug)).map((size) => ({ region: each, size })),
    )
    .map(({ region: { id, name, slug }, size }) => ({
      value: alternativeOf(id, size.id),
      label: w.alternative(size.name, name, formatMoney(size.priceMonthly, size.currency)),
      option: `region=${slug},plan=${size.slug}`,
    }))
    .filter(
      ({ value }) => form.alternatives.includes(value) || form.kind === 'custom' || value !== alternativeOf(form.regionId, form.planId),
    )
  const chosen = form.alternatives.map((value) => others.find((each) => each.value === value))
  const taken = typeof price?.alternative === 'number' ? (chosen[price.alternative]?.label ?? null) : null
  const facts: [string, string][] = [
    [w.region, region?.name ?? ''],
    source ? [w.backup, w.backupOf(source.backup.name, source.vm.name)] : [w.os, image?.name ?? (template ? formatOs(template) : '')],
    [w.size, form.kind === 'custom' ? formatSize(form) : (plan?.name ?? '')],
    ...(form.count > 1 ? [[w.count, w.countValue(form.count)] as [string, string]] : []),
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
            {({ id, name, city, flag, available }) => (
              <>
                <span className={css['optionName']}>
                  <span aria-hidden="true">{flag}</span> {name}
                </span>
                <span className={css['optionText']}>
                  {available ? (inWords(obstacleIn(availability, form, arch, id)) ?? city) : w.regionFull}
                </span>
              </>
            )}
          </Choice>
        </Card>
        {source ? (
          <SourceCard {...source} />
        ) : (
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
            <OwnImages images={choices.images} value={form.osTemplateId} onChange={(osTemplateId) => set({ osTemplateId })} />
          </Card>
        )}
        <Card title={w.size}>
          <SizeStep
            form={form}
            set={set}
            plans={plans}
            obstacleOf={({ id }) => inWords(obstacleTo(availability, form, arch, id))}
            alternatives={others.map(({ value, label }) => ({ value, label }))}
          />
        </Card>
        <Card title={w.login}>
          <LoginStep form={form} set={set} user={defaultUser} keys={choices.keys} error={problem} />
        </Card>
        <Card title={w.networking}>
          <NetworkStep form={form} set={set} networks={choices.networks} firewalls={choices.firewalls} />
        </Card>
        <Card title={w.addOns}>
          <AddOnStep form={form} set={set} groups={choices.groups} />
        </Card>
      </Stack>
      <Summary
        form={form}
        facts={facts}
        price={price}
        taken={taken}
        busy={create.isPending}
        error={problem}
        onSubmit={() => create.mutate(toRequest(form))}
        onShowCode={() => setShowsCode(true)}
      />
      {showsCode && (
        <CodeDialog
          request={toRequest(form)}
          names={{
            region: region?.slug ?? '',
            os: image?.id ?? template?.slug ?? '',
            plan: plan?.slug ?? '',
            user: defaultUser,
            alternatives: chosen.flatMap((each) => each?.option ?? []),
          }}
          onClose={() => setShowsCode(false)}
        />
      )}
    </Columns>
  )
}

/** Another part of the same choice. */
const OwnImages = ({ images, value, onChange }: { images: Image[]; value: string; onChange: (id: string) => void }) => (
  <>
    <p className="muted" style={{ margin: '16px 0 10px' }}>
      {images.length > 0 ? w.ownImages : w.noOwnImages}{' '}
      <TextLink to="/images" underline="always">
        {w.manageImages}
      </TextLink>
    </p>
    {images.length > 0 && (
      <Choice legend={w.ownImages} name="os" items={images} value={value} idOf={({ id }) => id} onChange={onChange} columns="narrow">
        {({ name, disk }) => (
          <>
            <span className={css['optionName']}>{name}</span>
            <span className={css['optionText']}>{w.imageDisk(formatDisk(disk ?? 0))}</span>
          </>
        )}
      </Choice>
    )}
  </>
)

const SourceCard = ({ vm, backup }: BackupSource) => (
  <Card title={w.backup} about={w.backupAbout}>
    <p>
      <strong>{w.backupOf(backup.name, vm.name)}</strong>
    </p>
    <p className="muted">
      {w.backupDisk(formatOs(vm.osTemplate), backup.disk ?? vm.disk)} <TextLink to="/vms/new">{w.chooseImage}</TextLink>
    </p>
  </Card>
)

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
