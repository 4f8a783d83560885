// A module gets the topics of the words that it uses, not all that words.ts has: reading them has no effect but that they are there.
import type { Plugin } from 'vite'

export const wordsByTopic: Plugin = {
  name: 'words-by-topic',
  transform(code, id) {
    return /web\/src\/words\/(words|topics\/[\w-]+)\.ts$/.test(id) ? { code, map: null, moduleSideEffects: false } : null
  },
}
