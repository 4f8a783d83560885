// What the built server reads and no compiler makes: files of images, the documentation, and the examples of requests and answers.
import { cpSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url))
const isPlain = (path) => statSync(path).isDirectory() || !path.endsWith('.ts')

cpSync(pathOf('src'), pathOf('dist'), { recursive: true, filter: isPlain })
cpSync(pathOf('../docs'), pathOf('dist/docs'), { recursive: true })
cpSync(pathOf('../openapi'), pathOf('dist/openapi'), { recursive: true })
