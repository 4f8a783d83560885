// The VM of quickstart: reused when it exists, otherwise created, also in place of one that never ran; prints a line per step of its action.
import { stopwatch, sleep } from '../../kernel/clock.ts'
import { showLine } from '../output.ts'
import type { Api } from './api-client.ts'

interface Vm {
  id: string
  name: string
  status: string
  statusReason: string | null
  ipAddress: string | null
  ipv6Address: string | null
  osTemplate: { slug: string }
  currentAction: { id: string } | null
  allowedActions: string[]
}

interface Template {
  id: string
  slug: string
  available: boolean
  defaultUser: string
}

interface Action {
  action: string
  status: string
  error: string | null
  steps: { name: string; status: string; startedAt: string | null; completedAt: string | null }[]
}

export interface Wanted {
  hostname: string
  publicKey: string
  /** In order of preference. */
  templates: string[]
}

const AFTER_FAILURE = 'To see what is wrong with this machine: npx berthd doctor. Then run npx berthd quickstart again.'

/** Templates are still being built at the first start. */
const TEMPLATE_TIMEOUT_MS = 15 * 60_000

export async function ensureVm(api: Api, wanted: Wanted): Promise<Vm & { user: string }> {
  const found = (await api.get<Vm[]>('/vms?limit=100')).find(({ name }) => name === wanted.hostname)
  const known = found && (await deleteIfNeverRan(api, found)) ? undefined : found
  const { id, actionId } = known ? await ensureStarted(api, known.id) : await create(api, wanted)
  if (actionId) await printSteps(api, id, actionId)
  const vm = await api.get<Vm>(`/vms/${id}`)
  if (vm.status !== 'RUNNING') throw new Error(`${vm.name} is ${vm.status}: ${vm.statusReason ?? 'see its actions.'}\n${nextStep(vm)}`)
  const { defaultUser } = await api.get<Template>(`/os-templates/${vm.osTemplate.slug}`)
  return { ...vm, user: defaultUser }
}

const nextStep = ({ name, osTemplate, allowedActions }: Vm): string =>
  allowedActions.includes('rebuild')
    ? `To build it anew, without its data: npx berth vm rebuild ${name} --os ${osTemplate.slug}`
    : `npx berth vm get ${name} shows it. For another VM: npx berthd quickstart --hostname another`

/** What was paid for it was given back when it failed. One that was lost with its host has run: its owner decides. */
async function deleteIfNeverRan(api: Api, { id, name, status }: Vm): Promise<boolean> {
  if (status !== 'ERROR') return false
  const actions = await api.get<Action[]>(`/vms/${id}/actions?limit=100`)
  const isFirst = actions.some(({ action }) => action === 'CREATE')
  if (!isFirst || actions.some((action) => !hasFailed(action))) return false
  const { actionId } = await api.delete<{ actionId: string }>(`/vms/${id}`)
  await waitFor(api, id, actionId, () => {})
  showLine('!', `${name} of an earlier run was never up`, 'deleted; it had been refunded')
  return true
}

const hasFailed = ({ status }: Action): boolean => status === 'FAILED' || status === 'CANCELLED'

interface Started {
  id: string
  actionId: string | null
}

async function ensureStarted(api: Api, id: string): Promise<Started> {
  const { currentAction, allowedActions } = await api.get<Vm>(`/vms/${id}`)
  if (currentAction) return { id, actionId: currentAction.id }
  if (!allowedActions.includes('start')) return { id, actionId: null }
  return { id, actionId: (await api.post<{ actionId: string }>(`/vms/${id}/start`)).actionId }
}

async function create(api: Api, { hostname, publicKey, templates }: Wanted): Promise<Started> {
  const [template, [region], sshKeyId] = await Promise.all([
    pickTemplate(api, templates),
    api.get<{ id: string }[]>('/regions'),
    registerKey(api, publicKey),
  ])
  const body = { hostname, regionId: region!.id, osTemplateId: template.id, sshKeyIds: [sshKeyId] }
  const { vm, actionId } = await api.post<{ vm: Vm; actionId: string }>('/vms', body)
  return { id: vm.id, actionId }
}

async function registerKey(api: Api, publicKey: string): Promise<string> {
  const [type, base64] = publicKey.split(' ')
  const known = await api.get<{ id: string; publicKey: string }[]>('/ssh-keys?limit=100')
  const same = known.find((key) => key.publicKey === `${type} ${base64}`)
  return (same ?? (await api.post<{ id: string }>('/ssh-keys', { name: 'this machine', publicKey }))).id
}

async function pickTemplate(api: Api, preferred: string[]): Promise<Template> {
  const elapsed = stopwatch()
  for (;;) {
    const offered = (await api.get<Template[]>('/os-templates')).filter(({ available }) => available)
    const best = preferred.map((slug) => offered.find((each) => each.slug === slug)).find((each) => each !== undefined)
    if (best) return best
    if (elapsed() > TEMPLATE_TIMEOUT_MS)
      throw new Error(`None of ${preferred.join(', ')} is available: npx berthd template list shows why. Or choose another with --os`)
    await sleep(1_000)
  }
}

/** Prints every step as it ends. */
function printSteps(api: Api, vmId: string, actionId: string): Promise<void> {
  const printed = new Set<string>()
  return waitFor(api, vmId, actionId, ({ steps }) => {
    for (const { name, status, startedAt, completedAt } of steps) {
      if (printed.has(name) || !startedAt || !completedAt) continue
      printed.add(name)
      showLine(
        status === 'COMPLETED' ? '✓' : '✗',
        `  ${name}`,
        `${((Date.parse(completedAt) - Date.parse(startedAt)) / 1000).toFixed(1)} s`,
      )
    }
  })
}

async function waitFor(api: Api, vmId: string, actionId: string, show: (action: Action) => void): Promise<void> {
  for (;;) {
    const action = await api.get<Action>(`/vms/${vmId}/actions/${actionId}?wait=2`)
    show(action)
    if (action.status === 'COMPLETED') return
    if (hasFailed(action)) throw new Error(`${action.error ?? `The action was ${action.status.toLowerCase()}.`}\n${AFTER_FAILURE}`)
  }
}
