import type { CreateVm as Request, Plan, Region } from '@berth/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import type { Session } from '../../api/session.ts'
import { templateSlugOf } from '../../queries/images.ts'
import { formatDisk, formatMoney, formatOs, formatRam, formatSize } from '../../ui/format.ts'
import { Flag } from '../../ui/marks/Flag.tsx'
import { OsMark } from '../../ui/marks/OsMark.tsx'
import { Columns, Stack } from '../../ui/Page.tsx'
import { createVmMessages as w } from '../../words/words.ts'
import {
  findPlan,
  initialForm,
  isLargeEnough,
  needOf,
  obstacleIn,
  obstacleTo,
  plansFor,
  type BackupSource,
  type Choices,
  type Need,
} from './choices.ts'
import { CodeDialog } from './CodeDialog.tsx'
import { dropDraft, readDraft, saveDraft } from './draft.ts'
import { ImageAbout, ImageStep, SourceText } from './ImageStep.tsx'
import { LoginStep } from './LoginStep.tsx'
import { namesOf } from './names.ts'
import { NameStep } from './NameStep.tsx'
import { NetworkStep } from './NetworkStep.tsx'
import { AddOnStep, PlacementStep } from './OptionsStep.tsx'
import { useQuote } from './quote.ts'
import { RegionStep } from './RegionStep.tsx'
import { Section } from './Section.tsx'
import { SizeStep } from './SizeStep.tsx'
import { Summary } from './Summary.tsx'
import { UserDataStep } from './UserDataStep.tsx'
import { VolumeStep } from './VolumeStep.tsx'
import { alternativeOf, toRequest, type VmForm } from './vm-form.ts'

interface Props {
  choices: Choices
  session: Session
  source: BackupSource | null
  /** The image to begin with, and a plan that is large enough for it. */
  imageId?: string
}

export function CreateVmForm({ choices, session, source, imageId }: Props) {
  const { user } = session
  const [form, setForm] = useState(() => {
    const draft = readDraft(session)
    return initialForm(choices, imageId ? { ...draft, osTemplateId: imageId, planId: undefined } : draft, source)
  })
  const [moved, setMoved] = useState<{ from: string; to: string } | null>(null)
  const [showsCode, setShowsCode] = useState(false)
  const navigate = useNavigate()
  const create = useWrite((request: Request) => berth.vms.create(request), {
    inForm: true,
    invalidates: ['vms', 'wallet', 'actions', 'volumes'],
    successMessage: ({ vm, vms }) => (vms ? w.acceptedSeveral(vms.length) : w.accepted(vm.name)),
    onDone: async ({ vm, vms }) => {
      await (vms ? navigate({ to: '/vms' }) : navigate({ to: '/vms/$vmId', params: { vmId: vm.id } }))
      dropDraft(session)
    },
  })
  useEffect(() => saveDraft(session, form), [session, form])
  const { price, refusal } = useQuote(form)
  const error = create.error ?? refusal

  const chosen = findChosen(choices, form, source)
  const { region, template, image, arch, need } = chosen
  const imageName = image?.name ?? (template ? formatOs(template) : '')
  const defaultUser = image?.defaultUser ?? template?.defaultUser ?? 'root'
  const plans = plansFor(choices, form.regionId)
  const plan = plans.find(({ id }) => id === form.planId)
  const planObstacle = (each: Plan): string | null => {
    if (!isLargeEnough(each, need)) return w.tooSmall(imageName, formatRam(need.ram), formatDisk(need.disk))
    const code = obstacleTo(choices.availability, form, arch, each.id)
    return code && w.obstacles[code]
  }
  const regionObstacle = ({ id, available }: Region): { text: string; isFinal: boolean } | null => {
    if (!available) return { text: w.regionFull, isFinal: true }
    const code = obstacleIn(choices.availability, form, arch, id)
    // Room and addresses come back, and alternatives are for that.
    return code && { text: w.obstacles[code], isFinal: code !== 'full' && code !== 'no_address' }
  }
  const set = (change: Partial<VmForm>): void => setForm((now) => ({ ...now, ...change }))
  /** What does not fit any more makes place for what does. */
  const choose = (change: Partial<VmForm>): void => {
    const next = { ...form, ...change }
    const { need: needed, arch: onArch } = findChosen(choices, next, source)
    const before = choices.plans.find(({ id }) => id === next.planId)
    const canStay = before && isLargeEnough(before, needed) && obstacleTo(choices.availability, next, onArch, before.id) === null
    const other = canStay || form.kind === 'custom' ? undefined : findPlan(choices, next, onArch, needed)
    setMoved(other && before && other.id !== before.id ? { from: before.name, to: other.name } : null)
    setForm(other ? { ...next, planId: other.id } : next)
  }

  const others = alternativesOf(choices, form)
  const alternatives = form.alternatives.map((value) => others.find((each) => each.value === value))
  const taken = typeof price?.alternative === 'number' ? (alternatives[price.alternative]?.label ?? null) : null
  const sizeText = form.kind === 'custom' ? formatSize(form) : (plan?.name ?? '')
  const volumePrice = form.newVolumes.length > 0 && price?.volumesMonthly ? formatMoney(price.volumesMonthly, price.currency) : null
  const facts: [string, string][] = [
    [w.region, region?.name ?? ''],
    source ? [w.backup, w.backupOf(source.backup.name, source.vm.name)] : [w.os, imageName],
    [w.size, sizeText],
    ...(form.count > 1 ? [[w.count, w.countValue(form.count)] as [string, string]] : []),
    ...(volumePrice === null ? [] : [[w.volumes, w.volumeStep.price(volumePrice)] as [string, string]]),
    ...(form.publicIpv4 ? [] : [[w.publicAddress, w.ipv6Only] as [string, string]]),
  ]
  const [first, last] = [namesOf(form)[0], namesOf(form).at(-1)]
  const networks = choices.networks.filter(({ id }) => form.privateNetworkIds.includes(id))
  const firewalls = choices.firewalls.filter(({ id }) => form.firewallIds.includes(id))
  const volumes = choices.volumes.filter(({ id }) => form.volumeIds.includes(id))
  const keys = choices.keys.filter(({ id }) => form.sshKeyIds.includes(id))
  const section = { error }
  const step = { form, set, error }

  return (
    <Columns side>
      <Stack gap={12}>
        <Section
          {...section}
          title={w.region}
          about={w.regionAbout}
          fields={['regionId']}
          plainFields={['regionId']}
          summary={
            <>
              {region && <Flag country={region.country} width={20} />} {region?.name}
            </>
          }
        >
          <RegionStep
            regions={choices.regions}
            value={form.regionId}
            onChange={(regionId) => choose({ regionId })}
            obstacleOf={regionObstacle}
          />
        </Section>
        <Section
          {...section}
          title={source ? w.backup : w.os}
          about={source ? w.backupAbout : <ImageAbout templates={choices.templates} isOperator={user.isOperator} />}
          fields={['osTemplateId', 'fromBackupId']}
          plainFields={['osTemplateId', 'fromBackupId']}
          summary={
            source ? (
              source.backup.name
            ) : (
              <>
                <OsMark distribution={image ? 'imported' : (template?.distribution ?? '')} size={20} /> {imageName}
              </>
            )
          }
        >
          {source ? (
            <SourceText {...source} />
          ) : (
            <ImageStep
              templates={choices.templates}
              images={choices.images}
              value={form.osTemplateId}
              onChange={(osTemplateId) => choose({ osTemplateId })}
            />
          )}
        </Section>
        <Section
          {...section}
          title={w.size}
          fields={['planId', 'customConfig']}
          plainFields={['planId']}
          summary={form.kind === 'plan' && plan ? `${plan.name} · ${formatSize(plan)}` : sizeText}
        >
          <SizeStep {...step} plans={plans} obstacleOf={planObstacle} note={moved && w.planMoved(moved.from, moved.to)} />
        </Section>
        <Section
          {...section}
          isOptional
          title={w.volumes}
          about={w.volumeStep.about}
          fields={['volumes']}
          summary={listOf([...form.newVolumes.map(({ name }) => name), ...volumes.map(({ name }) => name)], w.nothingChosen)}
        >
          <VolumeStep {...step} volumes={choices.volumes} region={region?.slug ?? ''} price={volumePrice} />
        </Section>
        <Section
          {...section}
          title={w.naming}
          fields={['hostname', 'name', 'count']}
          summary={form.count > 1 ? w.fromTo(first?.hostname ?? '', last?.hostname ?? '') : form.name || form.hostname}
        >
          <NameStep {...step} hostnames={choices.hostnames} />
        </Section>
        <Section
          {...section}
          title={w.login}
          fields={['sshKeyIds', 'password']}
          summary={listOf([...keys.map(({ name }) => name), ...(form.password ? [w.withPassword] : [])], w.noWayIn)}
        >
          <LoginStep {...step} user={defaultUser} keys={choices.keys} hasUsers={source !== null} />
        </Section>
        <Section
          {...section}
          title={w.networking}
          fields={['privateNetworkIds', 'firewallIds', 'publicIpv4']}
          summary={listOf(
            [form.publicIpv4 ? w.publicAddress : w.ipv6Only, ...networks.map(({ name }) => name), ...firewalls.map(({ name }) => name)],
            '',
          )}
        >
          <NetworkStep
            {...step}
            networks={choices.networks}
            firewalls={choices.firewalls}
            region={region?.name ?? ''}
            ipv4Saving={
              form.kind === 'plan' && Number(plan?.ipv4PriceMonthly ?? 0) > 0 ? formatMoney(plan!.ipv4PriceMonthly, plan!.currency) : null
            }
          />
        </Section>
        <Section
          {...section}
          title={w.addOns}
          fields={['dailyBackupEnabled', 'network10gEnabled', 'isProtected']}
          plainFields={['dailyBackupEnabled', 'network10gEnabled', 'isProtected']}
          summary={listOf(
            [
              ...(form.dailyBackupEnabled ? [w.dailyBackup] : []),
              ...(form.network10gEnabled ? [w.tenGig] : []),
              ...(form.isProtected ? [w.protect] : []),
            ],
            w.nothingChosen,
          )}
        >
          <AddOnStep {...step} />
        </Section>
        <Section
          {...section}
          isOptional
          title={w.userData}
          fields={['userData']}
          summary={form.userData === '' ? w.nothingChosen : w.lines(form.userData.split('\n').length)}
        >
          <UserDataStep value={form.userData} onChange={(userData) => set({ userData })} error={error} />
        </Section>
        <Section
          {...section}
          isOptional
          title={w.labelsAndPlacement}
          fields={['labels', 'placementGroupId', 'alternatives']}
          summary={listOf(
            [
              ...form.labels,
              ...choices.groups.filter(({ id }) => id === form.placementGroupId).map(({ name }) => name),
              ...(form.alternatives.length > 0 ? [w.alternativeCount(form.alternatives.length)] : []),
            ],
            w.nothingChosen,
          )}
        >
          <PlacementStep {...step} groups={choices.groups} alternatives={others.map(({ value, label }) => ({ value, label }))} />
        </Section>
      </Stack>
      <Summary
        form={form}
        facts={facts}
        price={price}
        taken={taken}
        busy={create.isPending}
        error={error}
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
            alternatives: alternatives.flatMap((each) => each?.option ?? []),
          }}
          onClose={() => setShowsCode(false)}
        />
      )}
    </Columns>
  )
}

function findChosen({ regions, templates, images }: Choices, form: VmForm, source: BackupSource | null) {
  const region = regions.find(({ id }) => id === form.regionId)
  const image = images.find((each) => (source ? templateSlugOf(each) === source.vm.osTemplate.slug : each.id === form.osTemplateId))
  const template = templates.find((each) => (source ? each.slug === source.vm.osTemplate.slug : each.id === form.osTemplateId))
  const arch = source?.vm.osTemplate.arch ?? image?.arch ?? template?.arch ?? ''
  const need: Need = needOf(template, source ? undefined : image, source)
  return { region, template, image, arch, need }
}

/** The first two by name, the others as a number. */
const listOf = (names: string[], none: string): string =>
  names.length === 0 ? none : names.length <= 2 ? names.join(', ') : w.andMore(names.slice(0, 2).join(', '), names.length - 2)

/** Every plan in every region where it is sold, but what is chosen already. */
const alternativesOf = ({ regions, plans }: Choices, form: VmForm) =>
  regions
    .filter(({ available }) => available)
    .flatMap((each) => plans.filter((size) => size.available && size.regions.includes(each.slug)).map((size) => ({ region: each, size })))
    .map(({ region: { id, name, slug }, size }) => ({
      value: alternativeOf(id, size.id),
      label: w.alternative(size.name, name, formatMoney(size.priceMonthly, size.currency)),
      option: `region=${slug},plan=${size.slug}`,
    }))
    .filter(
      ({ value }) => form.alternatives.includes(value) || form.kind === 'custom' || value !== alternativeOf(form.regionId, form.planId),
    )
