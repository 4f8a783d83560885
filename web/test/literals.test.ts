// Every text of a screen is in src/words: nothing that people read stands in a component.
import { globSync, readFileSync } from 'node:fs'
import { parseSync } from 'vite'
import { describe, expect, test } from 'vitest'

const source = new URL('../src/', import.meta.url)

/** What assistive technology or the eye reads. */
const READ = new Set([
  'alt',
  'aria-description',
  'aria-label',
  'aria-placeholder',
  'aria-roledescription',
  'aria-valuetext',
  'caption',
  'description',
  'error',
  'label',
  'legend',
  'placeholder',
  'summary',
  'title',
])

interface Node {
  type: string
  value?: unknown
  name?: { name?: string; namespace?: { name: string } }
  [key: string]: unknown
}

const hasLetters = (text: unknown): text is string => typeof text === 'string' && /\p{L}{2}/u.test(text)

/** Texts that an expression can become: `a ? 'x' : 'y'`, and the constant parts of a template. */
function* literalsOf(node: unknown): Generator<string> {
  const { type, ...each } = (node ?? {}) as Node
  if (type === 'Literal' && hasLetters(each.value)) yield each.value
  if (type === 'TemplateElement') {
    const { cooked } = each.value as { cooked: string }
    if (hasLetters(cooked)) yield cooked
  }
  if (type === 'TemplateLiteral') for (const part of each['quasis'] as unknown[]) yield* literalsOf(part)
  if (type === 'JSXExpressionContainer') yield* literalsOf(each['expression'])
  if (type === 'ConditionalExpression') {
    yield* literalsOf(each['consequent'])
    yield* literalsOf(each['alternate'])
  }
  if (type === 'LogicalExpression') {
    if (each['operator'] !== '&&') yield* literalsOf(each['left'])
    yield* literalsOf(each['right'])
  }
  if (type === 'BinaryExpression' && each['operator'] === '+') {
    yield* literalsOf(each['left'])
    yield* literalsOf(each['right'])
  }
}

function* texts(node: unknown): Generator<string> {
  if (Array.isArray(node)) {
    for (const each of node) yield* texts(each)
    return
  }
  if (typeof node !== 'object' || node === null) return
  const { type, ...rest } = node as Node
  if (type === 'JSXText' && hasLetters(rest.value)) yield rest.value.trim()
  if (type === 'JSXAttribute' && READ.has(String(rest.name?.name))) yield* literalsOf(rest.value)
  if (type === 'JSXElement' || type === 'JSXFragment')
    for (const child of rest['children'] as Node[]) if (child.type === 'JSXExpressionContainer') yield* literalsOf(child)
  for (const each of Object.values(rest)) yield* texts(each)
}

const textsOf = (code: string): string[] => [...texts(parseSync('screen.tsx', code, { lang: 'tsx' }).program)]

test.each([
  ['<p>Some text</p>', ['Some text']],
  ['<p>{isOn ? "on" : w.off} · {3}</p>', ['on']],
  ['<p>{`${price} a month`}</p>', [' a month']],
  ['<input aria-label="Name" name="name" placeholder={first || "web-1"} />', ['Name', 'web-1']],
  ['<Status tone="idle">{w.off}</Status>', []],
])('%s', (code, found) => expect(textsOf(code)).toEqual(found))

describe('no word stands in', () => {
  test.each(globSync('**/*.tsx', { cwd: source }))('%s', (file) => expect(textsOf(readFileSync(new URL(file, source), 'utf8'))).toEqual([]))
})
