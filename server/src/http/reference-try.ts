// The form with which a reader sends an operation. It is shown by the script that knows how to (docs-files/try.js).
import { escapeHtml } from './page.ts'
import type { Json } from './openapi-schema.ts'
import { resolve, type Schemas } from './reference-schema.ts'

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Json
}

interface Form {
  method: string
  path: string
  parameters: Parameter[]
  /** What the body is to begin with; none when there is no body. */
  body: object | undefined
}

export function tryForm({ method, path, parameters, body }: Form, schemas: Schemas): string {
  const fields = parameters.map((each) => fieldOf(each, schemas)).join('')
  const text = body && JSON.stringify(body, null, 2)
  const area =
    text === undefined
      ? ''
      : `<label class="wide">Body (JSON) <textarea name="body:json" rows="${linesOf(text)}" spellcheck="false">${escapeHtml(text)}</textarea></label>`
  return `<form class="try" data-method="${method}" data-path="${escapeHtml(path)}" hidden><h3>Try it</h3>
<div class="fields">${fields}</div>${area}
<button class="send">Send ${method}</button><div class="answer" role="status"></div></form>`
}

const linesOf = (text: string): number => Math.min(14, text.split('\n').length + 1)

function fieldOf({ name, in: place, required, schema }: Parameter, schemas: Schemas): string {
  const { enum: values, type } = resolve(schema, schemas) as { enum?: unknown[]; type?: string }
  const choices = values ?? (type === 'boolean' ? [true, false] : undefined)
  const named = `name="${place}:${escapeHtml(name)}"${required ? ' required' : ''}`
  const input = choices
    ? `<select ${named}><option value=""></option>${choices.map((each) => `<option>${escapeHtml(String(each))}</option>`).join('')}</select>`
    : `<input ${named} autocomplete="off" spellcheck="false">`
  return `<label>${escapeHtml(name)} ${input}</label>`
}
