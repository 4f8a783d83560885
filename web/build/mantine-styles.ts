// The style of a component of Mantine comes with its code, instead of those of all components with the first view. While developing, Mantine is
// bundled as a whole, and so are its styles.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

const STYLES = fileURLToPath(new URL('../../node_modules/@mantine/core/styles/', import.meta.url))

let isServed = false

export const mantineStyles: Plugin = {
  name: 'mantine-styles',
  configResolved({ command }) {
    isServed = command === 'serve'
  },
  transform(code, id) {
    if (isServed) return id.endsWith('/src/main.tsx') ? { code: `import '@mantine/core/styles.layer.css'\n${code}`, map: null } : null
    const [, name] = /@mantine\/core\/esm\/.*\/(\w+)\.module\.mjs$/.exec(id) ?? []
    if (name === undefined || !existsSync(`${STYLES}${name}.layer.css`)) return null
    return { code: `import '@mantine/core/styles/${name}.layer.css'\n${code}`, map: null }
  },
}
