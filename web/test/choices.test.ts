import { describe, expect, test } from 'vitest'
import type { Availability, Backup, Image, OsTemplate, Plan, Region, SshKey, Vm } from '../../sdk/src/index.ts'
import { initialForm, obstacleIn, obstacleTo, type BackupSource, type Choices } from '../src/screens/create-vm/choices.ts'
import { toRequest } from '../src/screens/create-vm/vm-form.ts'
import { filterBy, findChoice } from '../src/screens/vms/status-choices.ts'
import { formatSize } from '../src/ui/format.ts'

const template = (id: string, checksum: string, more: Partial<OsTemplate> = {}): OsTemplate =>
  ({ id, checksum, available: true, deprecatedAt: null, ...more }) as OsTemplate
const plan = (id: string, ram: number, disk: number): Plan => ({ id, ram, disk, available: true }) as Plan
const key = (id: string): SshKey => ({ id }) as SshKey
const choices = (more: Partial<Choices>): Choices => ({
  regions: [],
  templates: [],
  images: [],
  plans: [],
  keys: [],
  networks: [],
  firewalls: [],
  groups: [],
  volumes: [],
  availability: [],
  hostnames: [],
  ...more,
})

describe('the create form begins with', () => {
  test('a template that has an image, not one that is built first', () => {
    const templates = [template('debian', ''), template('old', 'f00', { deprecatedAt: '2026-01-01T00:00:00Z' }), template('tiny', 'abc')]
    expect(initialForm(choices({ templates }), {}).osTemplateId).toBe('tiny')
  })

  test('the first template that can be chosen, if no image is there', () => {
    const templates = [template('rocky', '', { available: false }), template('debian', '')]
    expect(initialForm(choices({ templates }), {}).osTemplateId).toBe('debian')
  })

  test('a plan that is large enough for the template', () => {
    const plans = [plan('nano', 512, 10), plan('small', 1024, 25), plan('medium', 2048, 50)]
    const templates = [template('ubuntu', 'abc', { minRam: 1024, minDisk: 10 })]
    expect(initialForm(choices({ templates, plans }), {}).planId).toBe('small')
  })

  test('a region and a plan that can be had now, and a name that is not taken', () => {
    const regions = [{ id: 'fra', slug: 'fra', available: true } as Region, { id: 'ams', slug: 'ams', available: true } as Region]
    const plans = [plan('nano', 512, 10), plan('small', 1024, 25)]
    const row = (region: string, size: string, code: Availability['code']) =>
      ({ region: { id: region }, plan: { id: size }, architecture: 'x86_64', code }) as Availability
    const availability = [row('fra', 'nano', 'full'), row('fra', 'small', 'full'), row('ams', 'nano', 'full'), row('ams', 'small', null)]
    const all = choices({ regions, plans, availability, templates: [template('debian', 'abc', { arch: 'x86_64' })], hostnames: ['web'] })
    const form = initialForm(all, {})
    expect(form).toMatchObject({ regionId: 'ams', planId: 'small' })
    expect(form.hostname).toMatch(/^[a-z]+-[a-z]+$/)
    expect(initialForm(all, { hostname: '' }).hostname).toBe('')
  })

  test('the only SSH key, and with none of several', () => {
    expect(initialForm(choices({ keys: [key('laptop')] }), {}).sshKeyIds).toEqual(['laptop'])
    expect(initialForm(choices({ keys: [key('laptop'), key('phone')] }), {}).sshKeyIds).toEqual([])
  })

  test('the draft, without what was deleted since', () => {
    const draft = { hostname: 'web', osTemplateId: 'gone', sshKeyIds: ['laptop', 'gone'], firewallIds: ['gone'] }
    const form = initialForm(choices({ templates: [template('debian', '')], keys: [key('laptop'), key('phone')] }), draft)
    expect(form).toMatchObject({ hostname: 'web', osTemplateId: 'debian', sshKeyIds: ['laptop'], firewallIds: [] })
  })

  test('the own image of the draft, and a plan that is large enough for it', () => {
    const plans = [plan('nano', 512, 10), plan('small', 1024, 25), plan('medium', 2048, 50)]
    const images = [{ id: 'golden', disk: 30 } as Image]
    const all = choices({ templates: [template('debian', 'abc', { minDisk: 10 })], images, plans })
    expect(initialForm(all, { osTemplateId: 'golden' })).toMatchObject({ osTemplateId: 'golden', planId: 'medium' })
    expect(initialForm({ ...all, images: [] }, { osTemplateId: 'golden' })).toMatchObject({ osTemplateId: 'debian', planId: 'nano' })
  })

  test('a plan that is large enough for the backup, which a draft does not bring back', () => {
    const plans = [plan('nano', 512, 10), plan('small', 1024, 25), plan('medium', 2048, 50)]
    const source = { vm: { osTemplate: { slug: 'debian' } } as Vm, backup: { id: 'monday', disk: 25 } as Backup } satisfies BackupSource
    const all = choices({ templates: [template('debian', 'abc', { slug: 'debian' })], plans })
    const form = initialForm(all, { planId: 'nano' }, source)
    expect(form.planId).toBe('small')
    expect(toRequest(form)).toMatchObject({ fromBackupId: 'monday' })
    expect(toRequest(form)).not.toHaveProperty('osTemplateId')
    expect(toRequest(initialForm(all, form))).toMatchObject({ osTemplateId: 'debian' })
  })
})

describe('the list of VMs', () => {
  test.each([
    [undefined, {}],
    ['NONSENSE', {}],
    ['toString', {}],
    ['RUNNING', { status: 'RUNNING' }],
    ['STOPPED', { status: 'STOPPED', shelved: false }],
    ['SHELVED', { shelved: true }],
  ])('asked for %s', (text, query) => {
    expect(filterBy(findChoice(text))).toEqual(query)
  })

  test('marks dedicated CPUs', () => {
    const size = { vcpu: 2, ram: 2048, disk: 50 }
    expect(
      [formatSize(size), formatSize({ ...size, dedicatedCpu: true })].map((text) => text.split(' · ')[0]!.replace(/\s/g, ' ')),
    ).toEqual(['2 vCPU', '2 dedicated vCPU'])
  })
})

describe('what cannot be had', () => {
  const row = (region: string, plan: string, code: Availability['code'], architecture = 'x86_64') =>
    ({ region: { id: region, slug: region }, plan: { id: plan, slug: plan }, architecture, code }) as Availability
  const rows = [
    row('fra', 'small', 'full'),
    row('fra', 'large', 'never'),
    row('fra', 'old', 'plan_not_offered'),
    row('fra', 'small', null, 'aarch64'),
    row('ams', 'small', 'no_address'),
  ]

  test('says why, by region, plan and architecture', () => {
    const form = { regionId: 'fra', publicIpv4: true }
    expect(obstacleTo(rows, form, 'x86_64', 'small')).toBe('full')
    expect(obstacleTo(rows, form, 'aarch64', 'small')).toBeNull()
    expect(obstacleTo([], form, 'x86_64', 'small')).toBeNull()
  })

  test('needs no public address where the VM has none', () => {
    expect(obstacleTo(rows, { regionId: 'ams', publicIpv4: true }, 'x86_64', 'small')).toBe('no_address')
    expect(obstacleTo(rows, { regionId: 'ams', publicIpv4: false }, 'x86_64', 'small')).toBeNull()
  })

  test('is a region where none of its plans can be had', () => {
    expect(obstacleIn(rows, { publicIpv4: true }, 'x86_64', 'fra')).toBe('full')
    expect(obstacleIn(rows, { publicIpv4: true }, 'x86_64', 'ams')).toBe('no_address')
    expect(obstacleIn(rows, { publicIpv4: true }, 'aarch64', 'fra')).toBeNull()
    expect(obstacleIn(rows, { publicIpv4: true }, 'aarch64', 'ams')).toBeNull()
  })
})
