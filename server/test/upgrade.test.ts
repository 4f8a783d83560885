// What a real older release left behind is taken over by this one: nothing stops and nothing is lost.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCore } from '../src/compose.ts'
import { readConfig } from '../src/config.ts'
import { checkInvariants, formatFailures } from '../src/invariants/check.ts'
import { createLog } from '../src/kernel/log.ts'
import { BALANCE, olderRelease, TOKEN, VM_ID } from './older-release/older-release.ts'
import { eventually, service, type Settings } from './processes.ts'
import { receiver } from './receiver.ts'
import { anyPort, ask, caller, ended, lifeOf, upgradeFolder } from './upgrade-fixture.ts'

const folder = upgradeFolder()

interface Listed {
  id: string
  name: string
  status: string
}

/** Invariant violations, when everything has come to rest. */
async function brokenAfter(older: Settings): Promise<string> {
  const core = await openCore(readConfig(older), older['BERTH_DATABASE_URL']!, createLog({ level: 'silent', pretty: false }), {
    worker: false,
  })
  let broken = ''
  const whole = async (): Promise<boolean> => (broken = formatFailures(await checkInvariants(core.deps))) === ''
  await eventually(whole, 60_000).catch(() => undefined)
  await core.close()
  return broken
}

test('this release takes over the data of an older one: VMs keep running, actions end, balances match', { timeout: 300_000 }, async () => {
  const dataDir = join(folder, 'older')
  const older = {
    ...anyPort,
    BERTH_DATA_DIR: dataDir,
    BERTH_DATABASE_URL: await olderRelease(dataDir),
    BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true',
  }
  const asStarted = await lifeOf(VM_ID, older)
  expect(asStarted).toMatchObject([{ power: 'running' }])
  const inProgress = await ask<{ id: string; vm_id: string; label: string }>(
    older,
    'select id, subject_id as vm_id, label from workflow_runs where completed_at is null order by label',
  )
  expect(inProgress.map(({ label }) => label)).toEqual(['CREATE', 'STOP'])
  const up = await service(older, 'up')
  const call = caller(up.url, TOKEN)
  for (const { id, vm_id } of inProgress) await ended(call, vm_id, id)
  const vms = await call<Listed[]>('/vms')
  expect(Object.fromEntries(vms.map(({ name, status }) => [name, status]))).toEqual({
    'web-1': 'RUNNING',
    'web-2': 'STOPPED',
    'web-3': 'RUNNING',
  })
  expect(await lifeOf(VM_ID, older)).toEqual(asStarted)
  expect(await call('/wallet')).toMatchObject({ balance: BALANCE })

  const target = await receiver()
  const [webhook] = await call<Listed[]>('/webhooks')
  await call(`/webhooks/${webhook!.id}`, { url: target.url }, 'PATCH')
  await call(`/webhooks/${webhook!.id}/test`, {})
  expect(target.received.at(-1)?.headers).toMatchObject({ 'webhook-signature': expect.stringMatching(/^v1,/) })

  const [region] = await call<Listed[]>('/regions')
  const { id: osTemplateId } = await call('/os-templates/debian-12')
  const made = await call('/vms', { regionId: region!.id, osTemplateId, hostname: 'web-4' })
  await ended(call, made.vm.id, made.actionId)
  for (const id of [made.vm.id, vms.find(({ name }) => name === 'web-3')!.id]) {
    await call(`/vms/${id}`, undefined, 'DELETE')
    await eventually(async () => (await call(`/vms/${id}`)) === undefined, 60_000)
  }
  expect(await brokenAfter(older)).toBe('')
  expect(await up.kill('SIGTERM')).toBe(0)
})
