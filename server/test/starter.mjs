// Like `npm start`, without its checks.
import { join } from 'node:path'
import { runInForeground } from '../../ops/foreground.mjs'

process.exitCode = await runInForeground(process.execPath, [join(import.meta.dirname, '../bin/berthd.mjs'), 'up'])
