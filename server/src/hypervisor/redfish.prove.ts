// Machines are switched off by a real implementation of Redfish, sushy-tools' emulator, whose systems are domains of a real libvirtd.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuthority, type Authority } from '../../../libvirt/test/certificates.ts'
import { missingForSandbox } from '../../../libvirt/test/command.ts'
import { describeIf } from '../../../libvirt/test/describe-if.ts'
import { Sandboxes } from '../../../libvirt/test/sandbox-fleet.ts'
import type { Sandbox } from '../../../libvirt/test/sandboxed-libvirtd.ts'
import { missingForSushy, startMachine, startSushy, type SushyEmulator } from '../../test/sushy-emulator.ts'
import { readCertificate } from './pinned-tls.ts'
import { ensureOff, readPower, readSystem, type PowerController } from './redfish.ts'

const soon = (): AbortSignal => AbortSignal.timeout(30_000)

describeIf(missingForSandbox() ?? missingForSushy())('Redfish of sushy-tools over libvirt', () => {
  const [own, other] = [randomUUID(), randomUUID()]
  let sandboxes: Sandboxes
  let sandbox: Sandbox
  let authority: Authority
  let card: SushyEmulator
  const running = async () => (await sandbox.virsh('list', '--name')).trim().split('\n').filter(Boolean).toSorted()
  const systemOn = ({ url, user, password }: SushyEmulator, uuid: string, more: Partial<PowerController> = {}): PowerController => ({
    url: `${url}/redfish/v1/Systems/${uuid}`,
    user,
    password,
    ca: null,
    systemUuid: uuid,
    ...more,
  })

  beforeAll(async () => {
    sandboxes = await Sandboxes.open()
    sandbox = await sandboxes.add()
    authority = await createAuthority(sandboxes.folder)
    await startMachine(sandbox, 'own', own)
    card = await startSushy(sandbox)
  }, 300_000)
  afterAll(async () => {
    await card?.stop()
    await sandboxes?.close()
  })

  test('the only system of a card is found, and read', async () => {
    const controller = { ...systemOn(card, own), url: card.url }
    expect(await readSystem(controller, soon())).toEqual({ uuid: own, power: 'On' })
    expect(await readPower(controller, soon())).toBe('On')
    await startMachine(sandbox, 'other', other)
    await expect(readPower(controller, soon())).rejects.toMatchObject({
      kind: 'permanent',
      message: expect.stringContaining('2 systems: name one'),
    })
  })

  test('a wrong password, a wrong system, another machine and a card that does not answer switch nothing off', async () => {
    const refused = (controller: PowerController, kind: string, message: string) =>
      expect(ensureOff(controller, soon())).rejects.toMatchObject({ kind, message: expect.stringContaining(message) })
    await refused(systemOn(card, own, { password: 'guess' }), 'permanent', 'answered 401')
    await refused(systemOn(card, randomUUID()), 'permanent', 'answered 404')
    const another = `is another machine now: its system is ${other}, it was ${own}`
    await refused(systemOn(card, other, { systemUuid: own }), 'permanent', another)
    await refused({ ...systemOn(card, own), url: 'http://127.0.0.1:1/redfish/v1/Systems/1' }, 'unreachable', 'ECONNREFUSED')
    expect(await running()).toEqual(['other', 'own'])
  })

  test('a machine is switched off, once and for all who ask, and no other is', async () => {
    const controller = systemOn(card, own)
    await Promise.all([ensureOff(controller, soon()), ensureOff(controller, soon())])
    expect([await running(), await readPower(controller, soon())]).toEqual([['other'], 'Off'])
    await ensureOff(controller, soon())
    expect(await running()).toEqual(['other'])
    await sandbox.virsh('start', 'own')
    expect(await readPower(controller, soon())).toBe('On')
  })

  test('over TLS the card is trusted by its certificate, or by the authority of one with its name', async () => {
    const nameless = await startSushy(sandbox, await authority.issue('nameless', []))
    const named = await startSushy(sandbox, await authority.issue('named', ['IP:127.0.0.1']))
    try {
      for (const [each, ca] of [
        [nameless, null],
        [nameless, authority.ca],
        [named, null],
      ] as const)
        await expect(ensureOff(systemOn(each, own, { ca }), soon())).rejects.toMatchObject({
          kind: 'permanent',
          message: expect.stringContaining('its certificate is not trusted'),
        })
      expect(await running()).toEqual(['other', 'own'])
      const pinned = (await readCertificate(new URL(nameless.url), soon())).toString()
      expect(await readPower(systemOn(nameless, other, { ca: pinned }), soon())).toBe('On')
      await ensureOff(systemOn(nameless, own, { ca: pinned }), soon())
      expect(await running()).toEqual(['other'])
      await ensureOff(systemOn(named, other, { ca: authority.ca }), soon())
      expect(await running()).toEqual([])
    } finally {
      await nameless.stop()
      await named.stop()
    }
  })

  test('a libvirtd that is stopped leaves the machine unknown: it is not believed to be off', async () => {
    await sandbox.virsh('start', 'own')
    await sandbox.signalDaemon('STOP')
    await expect(ensureOff(systemOn(card, own), AbortSignal.timeout(3_000))).rejects.toMatchObject({ kind: 'aborted' })
    await sandbox.signalDaemon('CONT')
    await expect.poll(() => ensureOff(systemOn(card, own), soon()).then(() => 'off', String)).toBe('off')
    expect(await running()).toEqual([])
  })
})
