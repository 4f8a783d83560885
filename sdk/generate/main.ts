// npm run sdk:types: writes sdk/src/generated from openapi/v1.json. A test fails when the files are stale.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventsFile, routesFile, typesFile, type Document } from './generate.ts'

const root = join(import.meta.dirname, '../..')
const document = JSON.parse(readFileSync(join(root, 'openapi/v1.json'), 'utf8')) as Document
const write = (name: string, text: string): void => writeFileSync(join(root, 'sdk/src/generated', name), text)
write('openapi.ts', await typesFile(document))
write('routes.ts', routesFile(document))
write('events.ts', eventsFile(document))
