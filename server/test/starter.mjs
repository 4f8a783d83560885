// What `npm start` does, without the checks before it.
import { join } from 'node:path'
import { runInForeground } from '../../ops/foreground.mjs'

process.exitCode = await runInForeground(process.execPath, [join(import.meta.dirname, '../bin/berthd.mjs'), 'up'])
