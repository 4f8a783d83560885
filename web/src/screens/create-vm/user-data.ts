// What people get wrong in user data, found while they type. The API has the last word, and cloud-init the very last.
export const MAX_USER_DATA_BYTES = 2 ** 16

/** To begin with. */
export const STARTERS = {
  config: '#cloud-config\npackage_update: true\npackages:\n  - nginx\nruncmd:\n  - systemctl enable --now nginx\n',
  script: '#!/bin/sh\nset -eu\n\n',
}

export type UserDataKind = 'cloud-config' | 'script' | 'other'
export type UserDataProblem =
  | { line: number; code: 'tab' | 'indent' | 'colonSpace' | 'dashSpace' | 'header' | 'unknown' }
  | { line: number; code: 'twice'; key: string }

export interface UserDataCheck {
  kind: UserDataKind | null
  bytes: number
  problems: UserDataProblem[]
}

const OTHER_FORMS = /^(#cloud-boothook|## template: jinja|mime-version:|content-type:|h4si)/i
const KEY = /^[A-Za-z_][\w-]*:(\s|$)/

export function checkUserData(text: string): UserDataCheck {
  const bytes = new TextEncoder().encode(text).length
  const start = text.trimStart()
  if (start === '') return { kind: null, bytes, problems: [] }
  if (start.startsWith('#!')) return { kind: 'script', bytes, problems: [] }
  if (OTHER_FORMS.test(start)) return { kind: 'other', bytes, problems: [] }
  const isConfig = /^#cloud-config\s*(\n|$)/i.test(start)
  const first = 1 + text.slice(0, text.length - start.length).split('\n').length - 1
  if (!isConfig && !KEY.test(start.replace(/^(#.*\n|\s+)*/, ''))) return { kind: null, bytes, problems: [{ line: first, code: 'unknown' }] }
  const problems = checkYaml(text.split('\n'))
  return { kind: 'cloud-config', bytes, problems: isConfig ? problems : [{ line: first, code: 'header' }, ...problems] }
}

/** Indentation, and what makes a key no key. Text blocks (`|`, `>`) and what spans lines in brackets or quotes are left alone. */
function checkYaml(lines: string[]): UserDataProblem[] {
  const problems: UserDataProblem[] = []
  const topKeys = new Set<string>()
  /** Columns at which something begins, from the outside in. */
  let levels = [0]
  let block: number | null = null
  let open = 0
  let canNest = true
  lines.forEach((text, index) => {
    const line = index + 1
    const content = text.trimStart()
    const indent = text.length - content.length
    if (content === '') return
    if (block !== null) {
      if (indent > block) return
      block = null
    }
    if (text.slice(0, indent).includes('\t')) return void problems.push({ line, code: 'tab' })
    if (content.startsWith('#')) return
    if (open > 0) return void (open = Math.max(0, open + bracketsIn(content)))
    if (indent > levels.at(-1)!) {
      if (canNest) levels.push(indent)
      else return void (isContinuation(content) || problems.push({ line, code: 'indent' }))
    } else {
      levels = levels.filter((level) => level <= indent)
      if (levels.at(-1) !== indent) {
        problems.push({ line, code: 'indent' })
        levels.push(indent)
      }
    }
    if (/^-[^\s-]/.test(content)) problems.push({ line, code: 'dashSpace' })
    const dashes = /^(-\s+)*/.exec(content)![0].length
    const inner = content.slice(dashes)
    if (dashes > 0 && KEY.test(inner)) levels.push(indent + dashes)
    if (/^[a-z_]+:[A-Za-z0-9_"'[{]/.test(inner) && !/^[a-z]+:\d+$/.test(inner)) problems.push({ line, code: 'colonSpace' })
    const key = indent === 0 && dashes === 0 ? /^([\w-]+):/.exec(inner)?.[1] : undefined
    if (key !== undefined) {
      if (topKeys.has(key)) problems.push({ line, code: 'twice', key })
      topKeys.add(key)
    }
    const bare = inner.replace(/\s+#.*$/, '').trimEnd()
    if (/(^|[\s:-])[|>][+-]?\d?$/.test(bare)) block = dashes > 0 && !KEY.test(inner) ? indent : (levels.at(-1) ?? indent)
    open = Math.max(0, bracketsIn(bare))
    canNest = bare.endsWith(':') || bare === '-' || bare === '' || dashes > 0
  })
  return problems
}

/** A text that goes on in the next line is no mistake; a key or an entry of a list there is. */
const isContinuation = (content: string): boolean => !KEY.test(content) && !content.startsWith('- ')

function bracketsIn(text: string): number {
  const plain = text.replace(/"(\\.|[^"])*"|'[^']*'/g, '')
  return (plain.match(/[[{]/g)?.length ?? 0) - (plain.match(/[\]}]/g)?.length ?? 0)
}
