import { chown, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { testDatabase } from '../../../test/harness.ts'
import { missingForLibvirtHost } from '../../../test/libvirt-host.ts'
import { berthdJson } from '../../../test/processes.ts'
import { findUser, SERVICE_USER } from '../../kernel/os-user.ts'

describeIf(missingForLibvirtHost())('berthd template build as root, where another user owns the data', { timeout: 900_000 }, () => {
  test('follows no link of that user, who imports the image', async () => {
    const own = await mkdtemp(join(tmpdir(), 'berth-owned-'))
    onTestFinished(() => rm(own, { recursive: true }))
    const [images, victim] = [join(own, 'images'), `${own}-victim`]
    onTestFinished(() => rm(victim))
    await mkdir(images)
    await writeFile(victim, 'as it was')
    for (const name of ['making-tiny.json', 'build.lock']) await symlink(victim, join(images, name))
    const settings = { BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: own }
    const { uid, gid } = (await findUser(SERVICE_USER))! // who may connect to this database
    for (const path of [own, images]) await chown(path, uid, gid)
    const made = await berthdJson(settings, 'template', 'build', 'tiny')
    expect(await readFile(victim, 'utf8')).toBe('as it was')
    expect(await stat(join(images, `${made['checksum']!.replace('sha256:', '')}.qcow2`))).toMatchObject({ uid })
  })
})
