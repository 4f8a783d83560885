// Machines move between two hosts of a region: what both drivers of a kind promise together.
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Driver, MachineSpec, Volume } from '../driver.ts'
import { migrateMachine, returnMachine, type Move } from '../migrate.ts'
import { create, expectKind, expectNothingLeft, soon, stop, volumesOf, type DriverFixture } from './fixture.ts'
import { expectUsed, moreThan, sizeIn } from './live-size.ts'

export interface MigrationFixture {
  here: DriverFixture
  /** Another host of the region. */
  there: DriverFixture
  uris: { here: string; there: string }
  close(): Promise<void>
}

export function describeMigration(name: string, makeFixture: () => Promise<MigrationFixture>, timeoutMs = 30_000): void {
  describe(`migration by the ${name} driver`, { timeout: timeoutMs }, () => {
    let made: MigrationFixture
    beforeAll(async () => void (made = await makeFixture()), timeoutMs)
    const specs: MachineSpec[] = []
    const createHere = async (): Promise<MachineSpec> => {
      const spec = await create(made.here)
      specs.push(spec)
      return spec
    }
    afterEach(async () => {
      for (const { vmId } of specs.splice(0)) await made.there.driver.ensurePurgedKeepBackups(vmId, soon(made.there))
      await made.here.tidy?.()
    }, timeoutMs)
    afterAll(() => made?.close())

    const move = (spec: MachineSpec, isOn: boolean, changes: Partial<Move> = {}): Move => ({
      spec,
      from: made.here.driver,
      to: made.there.driver,
      uri: made.uris.there,
      isOn,
      cpus: null,
      downtimeMs: 500,
      miBPerSecond: null,
      ...changes,
    })
    const back = (spec: MachineSpec, isOn: boolean): Move => move(spec, isOn, { uri: made.uris.here })
    const powerOn = async (driver: Driver, { vmId }: MachineSpec): Promise<string | undefined> =>
      (await driver.findMachine(vmId, soon(made.here)))?.power
    const powers = async (spec: MachineSpec) => [await powerOn(made.here.driver, spec), await powerOn(made.there.driver, spec)]
    const startIt = async (where: DriverFixture, spec: MachineSpec): Promise<void> => {
      await where.driver.ensureRunning(spec, soon(where))
      await where.driver.ensureReady(spec.vmId, { timeoutMs: where.patienceMs }, soon(where))
    }

    test('a machine gets CPUs of the other host, and those of this one when it comes back', async () => {
      const last = (await made.here.driver.facts(soon(made.here))).vcpu - 1
      const cpus = (cpu: number) => ({ cpus: [cpu], numaNode: 0 })
      const spec = await create(made.here, made.here.spec({ cpus: cpus(last) }))
      specs.push(spec)
      const found = async ({ driver, guest }: DriverFixture) => [
        (await driver.findMachine(spec.vmId, soon(made.here)))?.cpus,
        await guest.affinity(spec.vmId),
      ]
      await migrateMachine(move(spec, true, { cpus: cpus(0) }), soon(made.here))
      expect(await found(made.there)).toEqual([cpus(0), '0'])
      const backwards = { ...back({ ...spec, cpus: cpus(0) }, true), from: made.there.driver, to: made.here.driver, cpus: cpus(last) }
      await migrateMachine(backwards, soon(made.here))
      expect(await found(made.here)).toEqual([cpus(last), String(last)])
    })

    test('a machine keeps the ISO image that is in its drive, running or off', async () => {
      const iso = await made.here.iso()
      const spec = { ...(await createHere()), iso }
      const isoOn = async ({ driver }: DriverFixture) => (await driver.findMachine(spec.vmId, soon(made.here)))?.isoId
      await stop(made.here, spec)
      await made.here.driver.ensureRunning(spec, soon(made.here))
      await migrateMachine(move(spec, true), soon(made.here))
      expect([await powers(spec), await isoOn(made.there)]).toEqual([[undefined, 'running'], iso.imageId])
      await expectKind(made.there.driver.ensureNoIso(iso.imageId, soon(made.there)), 'in_use')
      await made.here.driver.ensureNoIso(iso.imageId, soon(made.here))
      await stop(made.there, spec)
      await made.here.driver.ensurePurgedKeepBackups(spec.vmId, soon(made.here))
      await migrateMachine({ ...back(spec, false), from: made.there.driver, to: made.here.driver }, soon(made.here))
      expect([await powers(spec), await isoOn(made.here)]).toEqual([['stopped', undefined], iso.imageId])
      await made.here.driver.ensureRunning(spec, soon(made.here))
      expect(await made.here.driver.ensureInDrive(spec.vmId, null, soon(made.here))).toEqual({ isoId: null })
      await made.there.driver.ensureNoIso(iso.imageId, soon(made.there))
      await made.here.driver.ensurePurgedKeepBackups(spec.vmId, soon(made.here))
    })

    test('a running machine goes on there, with its disk, and comes back with what it wrote there', async () => {
      const spec = await createHere()
      await made.here.guest.write(spec.vmId, 'written here')
      await migrateMachine(move(spec, true), soon(made.here))
      expect(await powers(spec)).toEqual([undefined, 'running'])
      expect(await made.there.guest.read(spec.vmId)).toBe('written here')
      expect((await volumesOf(made.there, spec.vmId)).map(({ kind, complete }) => `${kind} ${complete}`).toSorted()).toEqual([
        'disk true',
        'seed true',
      ])
      await made.here.driver.ensurePurgedKeepBackups(spec.vmId, soon(made.here))
      await expectNothingLeft(made.here, spec.vmId)

      await made.there.guest.write(spec.vmId, 'written there')
      await migrateMachine({ ...back(spec, true), from: made.there.driver, to: made.here.driver }, soon(made.here))
      expect(await powers(spec)).toEqual(['running', undefined])
      await stop(made.here, spec)
      await startIt(made.here, spec)
      expect(await made.here.guest.read(spec.vmId)).toBe('written there')
    })

    test('a machine that has grown while it ran keeps its size there, and grows more', async () => {
      const spec = await create(made.here, made.here.spec({ ramMiB: 4096 }))
      specs.push(spec)
      const before = await made.here.guest.size(spec.vmId)
      const larger = await moreThan(made.here, spec)
      await made.here.driver.ensureLiveSize(larger, soon(made.here))
      await migrateMachine(move(larger, true), soon(made.here))
      expect(await powers(spec)).toEqual([undefined, 'running'])
      for (const times of [1, 2]) {
        const wanted = await moreThan(made.there, spec, times)
        expect(await made.there.driver.ensureLiveSize(wanted, soon(made.there))).toEqual({ ...sizeIn(wanted), guestReason: null })
        await expectUsed(made.there, wanted, before, spec)
      }
    })

    test('a machine that is off moves without being started', async () => {
      const spec = await createHere()
      await made.here.guest.write(spec.vmId, 'asleep')
      await stop(made.here, spec)
      await migrateMachine(move(spec, false), soon(made.here))
      await migrateMachine(move(spec, false), soon(made.here))
      expect(await powers(spec)).toEqual([undefined, 'stopped'])
      expect(await made.there.driver.findMachine(spec.vmId, soon(made.here))).toMatchObject({ stopReason: 'user' })
      await startIt(made.there, spec)
      expect(await made.there.guest.read(spec.vmId)).toBe('asleep')
    })

    test('two processes that move it at once have one effect', async () => {
      const spec = await createHere()
      const both = [move(spec, true), move(spec, true, { from: made.here.other })]
      const outcomes = await Promise.allSettled(both.map((each) => migrateMachine(each, soon(made.here))))
      expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true)
      expect(await powers(spec)).toEqual([undefined, 'running'])
    })

    test('what was moved is returned as it is now, and nothing stays there', async () => {
      const spec = await createHere()
      await migrateMachine(move(spec, true), soon(made.here))
      await made.there.guest.write(spec.vmId, 'written there')
      expect(await returnMachine(back(spec, true), soon(made.here))).toEqual({ isLeft: false, hasArrived: false })
      expect(await returnMachine(back(spec, true), soon(made.here))).toEqual({ isLeft: false, hasArrived: false })
      expect(await powers(spec)).toEqual(['running', undefined])
      expect(await made.here.guest.read(spec.vmId)).toBe('written there')
      await expectNothingLeft(made.there, spec.vmId)
    })

    test('what has gone off there stays there: it cannot come back as it was', async () => {
      const spec = await createHere()
      await migrateMachine(move(spec, true), soon(made.here))
      await made.there.guest.write(spec.vmId, 'written there')
      await stop(made.there, spec)
      await migrateMachine(move(spec, true), soon(made.here))
      expect(await returnMachine(back(spec, true), soon(made.here))).toEqual({ isLeft: false, hasArrived: true })
      expect(await returnMachine({ ...back(spec, true), from: null }, soon(made.here))).toEqual({ isLeft: false, hasArrived: true })
      expect(await powers(spec)).toEqual([undefined, 'stopped'])
      await made.here.driver.ensurePurgedKeepBackups(spec.vmId, soon(made.here))
      await startIt(made.there, spec)
      expect(await made.there.guest.read(spec.vmId)).toBe('written there')
    })

    test('a destination that was destroyed is not needed for it to stay', async () => {
      const spec = await createHere()
      expect(await returnMachine({ ...back(spec, true), to: null }, soon(made.here))).toEqual({ isLeft: false, hasArrived: false })
      expect(await powers(spec)).toEqual(['running', undefined])
      await stop(made.here, spec)
    })

    test('a migration outlives the process that began it, and another process aborts it', async () => {
      const spec = await createHere()
      await made.here.guest.write(spec.vmId, 'written here')
      const cut = new AbortController()
      const moving = migrateMachine(move(spec, true, { miBPerSecond: 1 }), cut.signal).catch(() => undefined)
      await vi.waitFor(async () => expect(await powerOn(made.there.driver, spec)).toBeDefined(), { timeout: made.here.patienceMs })
      cut.abort()
      await moving
      await returnMachine({ ...back(spec, true), from: made.here.other }, soon(made.here))
      expect(await powers(spec)).toEqual(['running', undefined])
      expect(await made.here.guest.read(spec.vmId)).toBe('written here')
      await expectNothingLeft(made.there, spec.vmId)
    })

    test.each([[true], [false]])('what was only prepared is returned untouched; isOn %s', async (isOn) => {
      const spec = await createHere()
      if (!isOn) await stop(made.here, spec)
      const shape = await made.here.driver.describeDisk(spec.vmId, soon(made.here))
      await made.there.driver.ensureReceiver(spec, shape, soon(made.here))
      await made.there.driver.ensureReceiver(spec, shape, soon(made.here))
      const isUsable = ({ kind, complete, storageId }: Volume): boolean => kind === 'disk' && complete && storageId === null
      expect((await volumesOf(made.there, spec.vmId)).filter(isUsable)).toEqual([])
      await expectKind(made.there.driver.ensureReceived(spec, { isOn: true }, soon(made.here)), 'not_found')
      await returnMachine(back(spec, isOn), soon(made.here))
      expect(await powers(spec)).toEqual([isOn ? 'running' : 'stopped', undefined])
      await expectNothingLeft(made.there, spec.vmId)
    })

    test('a machine that was started or stopped meanwhile stays', async () => {
      const spec = await createHere()
      await expectKind(migrateMachine(move(spec, false), soon(made.here)), 'invalid_state')
      expect(await powers(spec)).toEqual(['running', undefined])
      await stop(made.here, spec)
      await expectKind(migrateMachine(move(spec, true), soon(made.here)), 'invalid_state')
      expect(await powers(spec)).toEqual(['stopped', undefined])
      await returnMachine(back(spec, false), soon(made.here))
    })

    test('a machine that does not exist has no disk to describe', async () => {
      await expectKind(made.here.driver.describeDisk(made.here.spec().vmId, soon(made.here)), 'not_found')
    })
  })
}
