// Builds the dashboard before it is packed: node ops/build-dashboard.mjs
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDashboard } from './dashboard.mjs'

await buildDashboard(dirname(dirname(fileURLToPath(import.meta.url))))
