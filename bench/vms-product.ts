// The product's API as `berthd up` serves it, without a worker: what is created stays as it was accepted. Arguments: database, data folder.
import type { AddressInfo } from 'node:net'
import { openApi, openCore } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { createLog } from '../server/src/kernel/log.ts'
import { answerParent } from './vms-process.ts'

const [url = '', dataDir = ''] = process.argv.slice(2)
const config = readConfig({ BERTH_DATA_DIR: dataDir, BERTH_PORT: '0' })
const core = await openCore(config, url, createLog({ level: config.logLevel, pretty: false }), { worker: false })
const { app } = await openApi(core, { isOnlyProcess: true })
await app.listen({ host: '127.0.0.1', port: 0 })
answerParent(async () => (app.server.address() as AddressInfo).port)
