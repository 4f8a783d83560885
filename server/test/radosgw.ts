// A real S3 server: radosgw on a Ceph cluster of this machine.
import { missingCommands } from '../../libvirt/test/command.ts'
import { eventually } from '../../libvirt/test/eventually.ts'
import { missingForCeph, startCeph } from './ceph.ts'
import { freePort } from './free-port.ts'

export const missingForRadosgw = (): string | undefined => missingForCeph() ?? missingCommands('radosgw', 'radosgw-admin')

export interface Radosgw {
  url: string
  accessKeyId: string
  secretAccessKey: string
  close(): Promise<void>
}

const [ACCESS_KEY, SECRET_KEY] = ['BERTHTESTACCESSKEY', 'the-secret-of-the-test']
const NAME = 'rgw.a'

export async function openRadosgw(): Promise<Radosgw> {
  const port = await freePort()
  const { startClient, runAdmin, logOf, close } = await startCeph({ groupsPerPool: 1 })
  try {
    await startClient('radosgw', NAME, section(port))
    const url = `http://127.0.0.1:${port}`
    await eventually('radosgw', async () => (await fetch(url)).ok || undefined, 60_000)
    const keys = [`--access-key=${ACCESS_KEY}`, `--secret-key=${SECRET_KEY}`]
    await runAdmin('radosgw-admin', 'user', 'create', '--uid=berth', '--display-name=Berth', ...keys)
    return { url, accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY, close }
  } catch (error) {
    const log = await logOf(NAME)
    await close()
    throw new Error(`radosgw did not start: ${log.slice(-2_000)}`, { cause: error })
  }
}

const section = (port: string): string => `rgw_frontends = beast endpoint=127.0.0.1:${port} tcp_nodelay=1
rgw_thread_pool_size = 16
rgw_dynamic_resharding = false
rgw_rados_pool_pg_num_min = 1
`
