// npm run sdk:types: writes sdk/src/generated from openapi/v1.json. A test fails when it is stale.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { operationsFile, schemasFile, type Document } from './document.ts'

const root = join(import.meta.dirname, '../..')
const document = JSON.parse(readFileSync(join(root, 'openapi/v1.json'), 'utf8')) as Document
const write = (name: string, text: string): void => writeFileSync(join(root, 'sdk/src/generated', name), text)
write('schemas.ts', schemasFile(document))
write('operations.ts', operationsFile(document))
