// libvirt's XML: built from escaped parts, and parsed into a small tree. Without DTDs and custom entities, which libvirtd does not use.

export type Attributes = Record<string, string | number | undefined>
/** Serialised XML, returned by `element` only, never built from text. */
export interface Xml {
  readonly xml: string
}

/** Children that are strings are text. What is false, null or undefined is left out. */
export function element(
  name: string,
  attributes: Attributes = {},
  ...children: (Xml | Xml[] | string | number | false | null | undefined)[]
): Xml {
  const written = Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : ` ${key}='${escape(String(value))}'`))
  const inner = children.flat().flatMap((child) => {
    if (child === false || child === null || child === undefined) return []
    return typeof child === 'object' ? child.xml : escape(String(child))
  })
  return { xml: inner.length > 0 ? `<${name}${written.join('')}>${inner.join('')}</${name}>` : `<${name}${written.join('')}/>` }
}

const ESCAPES: Record<string, string> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', "'": '&apos;', '"': '&quot;' }
const CHARACTERS: Record<string, string> = Object.fromEntries(Object.entries(ESCAPES).map(([character, entity]) => [entity, character]))

/** XML knows no control characters but these three, not even escaped. */
const escape = (text: string): string =>
  text.replace(/[^\t\n\r\x20-\uFFFD\u{10000}-\u{10FFFF}]/gu, '').replace(/[<>&'"]/g, (found) => ESCAPES[found]!)

const unescape = (text: string): string =>
  text.replace(/&(?:lt|gt|amp|apos|quot);|&#(x?)([0-9a-f]+);/gi, (entity, hex: string | undefined, digits: string | undefined) =>
    digits === undefined ? CHARACTERS[entity]! : String.fromCodePoint(parseInt(digits, hex ? 16 : 10)),
  )

export class Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Element[] = []
  text = ''

  constructor(name: string, attributes: Record<string, string>) {
    this.name = name
    this.attributes = attributes
  }

  /** The first element at the end of a path such as `devices/interface/mac`. */
  find(path: string): Element | undefined {
    return this.all(path)[0]
  }

  all(path: string): Element[] {
    return path
      .split('/')
      .reduce<Element[]>((found, name) => found.flatMap((each) => each.children.filter((child) => child.name === name)), [this])
  }

  /** `attribute('source/network')` of an interface: the last part is the attribute. */
  attribute(path: string): string | undefined {
    const cut = path.lastIndexOf('/')
    return (cut < 0 ? this : this.find(path.slice(0, cut)))?.attributes[path.slice(cut + 1)]
  }
}

const TOKEN = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(\/?)([^\s/>]+)((?:\s+[^\s=/>]+\s*=\s*(?:'[^']*'|"[^"]*"))*)\s*(\/?)>|([^<]+)/g
const ATTRIBUTE = /([^\s=]+)\s*=\s*(?:'([^']*)'|"([^"]*)")/g

export function readXml(xml: string): Element {
  const root = new Element('', {})
  const open = [root]
  for (const [, closing, name, attributes = '', empty, text] of xml.matchAll(TOKEN)) {
    const current = open.at(-1)!
    if (text !== undefined) current.text += unescape(text)
    else if (closing) open.pop()
    else if (name !== undefined) {
      const child = new Element(name, readAttributes(attributes))
      current.children.push(child)
      if (!empty) open.push(child)
    }
  }
  const [only] = root.children
  if (!only || open.length !== 1) throw new Error('BUG: the host sent XML that does not close')
  return only
}

const readAttributes = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(ATTRIBUTE)].map(([, key, single, double]) => [key!, unescape(single ?? double ?? '')]))
