import { describe, expect, test } from 'vitest'
import { element, readXml } from './xml.ts'

describe('XML', () => {
  test.each([`plain`, `<a b='c'/>`, `"&amp;'`, ']]><!--', '<?x?>', '{{}} \\ %', 'ä€😀', 'two\nlines\tand a tab'])(
    'carries %j as text and as a value',
    (text) => {
      const read = readXml(element('outer', { value: text }, element('inner', {}, text)).xml)
      expect(read.attributes['value']).toBe(text)
      expect(read.find('inner')?.text).toBe(text)
      expect(read.children).toHaveLength(1)
    },
  )

  test('drops characters that XML does not allow', () => {
    expect(element('a', {}, 'b\0c\x1b').xml).toBe('<a>bc</a>')
  })

  test('drops empty children', () => {
    expect(element('a', { b: undefined, c: 0 }, false, null, undefined, [element('d')]).xml).toBe("<a c='0'><d/></a>")
  })

  test('is found by path', () => {
    const xml = readXml(`<?xml version="1.0"?><!-- <not/> --><a><b><c d="1"/></b><b><c d="&#x32;"/><e>&lt;&#65;</e></b></a>`)
    expect(xml.all('b/c').map((each) => each.attributes['d'])).toEqual(['1', '2'])
    expect([xml.attribute('b/c/d'), xml.attribute('b/x/d'), xml.find('b/e')?.text]).toEqual(['1', undefined, '<A'])
  })

  test('that is not closed is rejected', () => {
    for (const broken of ['<a><b></a>', '<a>', '', 'text']) expect(() => readXml(broken), broken).toThrow('BUG')
  })
})
