// Runs as a thread: takes the viewer's script out of its package, sends it gzipped, and is gone with all the memory that took.
import { parentPort } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import viewer from '@scalar/fastify-api-reference'
import { fastify } from 'fastify'

const shelf = fastify()
await shelf.register(viewer, { routePrefix: '/docs', configuration: { url: '/' } })
const { rawPayload } = await shelf.inject('/docs/js/scalar.js')
parentPort?.postMessage(gzipSync(rawPayload))
