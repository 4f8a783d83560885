// Traces as a real API and a real worker export them to a collector, and the exemplars that point at them.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { collector, valueOf, type Span } from './collector.ts'
import { testApp } from './harness.ts'
import { eventually, get, service } from './processes.ts'

const metricsOf = (output: string): string => /http:\/\/[\d.]+:\d+\/metrics/.exec(output)![0]

describe('an API and a worker with a collector', { timeout: 120_000 }, async () => {
  const app = await testApp()
  const { url, received, spans } = await collector()
  const settings = {
    BERTH_DATABASE_URL: app.db.url,
    BERTH_DATA_DIR: app.config.dataDir,
    BERTH_PORT: '0',
    BERTH_DRAIN_DELAY_SECONDS: '0',
    BERTH_OTLP_URL: url,
    BERTH_OTLP_HEADERS: 'x-collector=known, x-second=a=b',
  }
  const customer = await app.given.customer({ credit: '100.00' })
  const [api, worker] = await Promise.all([service(settings, 'api'), service(settings, 'worker')])
  const theirs = '0af7651916cd43dd8448eb211c80319c'
  const input = { ...(await app.given.vmInput()), hostname: 'confidential', password: 'correct-Horse-7-battery' }

  await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'transient', times: 1 })
  const created = await fetch(`${api.url}/vms`, {
    method: 'POST',
    headers: {
      'x-api-key': customer.token,
      'content-type': 'application/json',
      'x-request-id': 'req-77',
      traceparent: `00-${theirs}-b7ad6b7169203331-01`,
    },
    body: JSON.stringify(input),
  })
  const { actionId, vm } = ((await created.json()) as { data: { actionId: string; vm: { id: string } } }).data
  await eventually(async () => {
    const answered = (await (await get(`${api.url}/vms/${vm.id}`, customer.token)).json()) as { data: { status: string } }
    return answered.data.status === 'RUNNING'
  }, 60_000)
  const request = await eventually(async () => spans().find(({ name }) => name === 'createVm'))
  const inTrace = (): Span[] => spans().filter(({ traceId }) => traceId === request.traceId)
  await eventually(async () => inTrace().filter(({ name }) => name === 'run vm.provision').length === 2)

  test('it is one trace from the request to the calls of the host, over both processes and both attempts', () => {
    const trace = inTrace()
    const byId = new Map(trace.map((span) => [span.spanId, span]))
    const path = (span: Span): string[] => [
      ...(span.parentSpanId ? path(byId.get(span.parentSpanId)!) : []),
      `${span.service} ${span.name}`,
    ]
    const paths = trace.map((span) => path(span).join(' > '))
    const run = 'berth-api createVm > berth-api start vm.provision > berth-worker run vm.provision'
    expect(paths).toContain(`${run} > berth-worker run vm.provision.filter > berth-worker network ensurePort`)
    expect(paths.filter((each) => each === `${run} > berth-worker run vm.provision.disk > berth-worker host ensureDisk`)).toHaveLength(2)
    expect(paths).toContain(`${run} > berth-worker run vm.provision.ready > berth-worker host ensureReady`)
    expect(trace.filter(({ name }) => name === 'run vm.provision').map((span) => Number(valueOf(span, 'berth.attempt')))).toEqual([1, 2])
  })

  test('a span that failed says how, by a code', () => {
    const [failed] = inTrace().filter(({ name, status }) => name === 'host ensureDisk' && status.code === 2)
    expect(valueOf(failed!, 'error.type')).toBe('transient')
  })

  test('its attributes are ids: of the request, the account, the run, the machine and the host', () => {
    expect([valueOf(request, 'berth.request_id'), valueOf(request, 'berth.account_id')]).toEqual(['req-77', customer.accountId])
    const run = inTrace().find(({ name }) => name === 'run vm.provision')!
    expect([valueOf(run, 'berth.run_id'), valueOf(run, 'berth.subject_id')]).toEqual([actionId, vm.id])
    expect(
      valueOf(
        inTrace().find(({ name }) => name === 'host ensureDisk')!,
        'berth.host_id',
      ),
    ).toBe(app.host.id)
    const exported = received.map(({ body }) => body).join('\n')
    for (const secret of ['confidential', 'correct-Horse', customer.token, customer.email, '10.77.']) expect(exported).not.toContain(secret)
  })

  test('a customer cannot choose the trace', () => {
    expect(spans().filter(({ traceId }) => traceId === theirs)).toEqual([])
    expect(request.parentSpanId ?? '').toBe('')
  })

  test('strangers cost the collector nothing', async () => {
    for (let i = 0; i < 150; i++) await get(`${api.url}/wallet`, 'vmk_unknown')
    expect((await get(`${api.url}/wallet`, customer.token)).status).toBe(200)
    const traced = await eventually(async () => {
      const found = spans().filter(({ name }) => name === 'getWallet')
      return found.length > 0 && found
    })
    expect(traced.map((span) => valueOf(span, 'http.response.status_code'))).toEqual([200])
  })

  test('the collector gets the headers of the operator', () => {
    expect(received[0]!.headers).toMatchObject({ 'x-collector': 'known', 'x-second': 'a=b' })
  })

  test('durations in OpenMetrics name the trace; the older format has neither exemplars nor other names', async () => {
    const scrape = async (output: string, accept: string) => (await fetch(metricsOf(output), { headers: { accept } })).text()
    const openMetrics = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5'
    const requests = await scrape(api.output(), openMetrics)
    expect(requests).toMatch(new RegExp(`berth_http_request_seconds_bucket\\{.*createVm.*\\} 1 # \\{trace_id="${request.traceId}"\\}`))
    expect(requests).toMatch(/# EOF\n$/)
    const steps = await scrape(worker.output(), openMetrics)
    expect(steps).toMatch(
      new RegExp(`berth_workflow_step_seconds_bucket\\{.*vm\\.provision.*\\} \\d # \\{trace_id="${request.traceId}"\\}`),
    )
    expect(steps).toContain('# TYPE berth_workflow_runs counter\nberth_workflow_runs_total{')
    const older = await scrape(worker.output(), '*/*')
    expect(older).toContain('# TYPE berth_workflow_runs_total counter')
    expect(older).not.toContain('trace_id')
  })

  test('processes that stop export what is left', async () => {
    expect(await Promise.all([api.kill('SIGTERM'), worker.kill('SIGTERM')])).toEqual([0, 0])
    const known = new Set(inTrace().map(({ spanId }) => spanId))
    expect(inTrace().filter(({ parentSpanId }) => parentSpanId && !known.has(parentSpanId))).toEqual([])
  })

  test('a collector that does not answer delays nothing, and the log says so', async () => {
    const unreachable = await service({ ...settings, BERTH_OTLP_URL: 'http://127.0.0.1:9' }, 'api')
    expect((await get(`${unreachable.url}/regions`, customer.token)).status).toBe(200)
    await eventually(async () => unreachable.output().includes('exporting traces failed'))
    expect(await unreachable.kill('SIGTERM')).toBe(0)
  })
})

test('nothing of OpenTelemetry is loaded unless a collector is set', () => {
  const source = join(import.meta.dirname, '../src')
  const product = globSync('**/*.ts', { cwd: source }).filter((path) => !/\.(test|prove)\.ts$/.test(path))
  const importing = product.filter((path) =>
    /^import (?!type )[^;]*?from '(@opentelemetry\/|.*\/otlp\.ts)/m.test(readFileSync(join(source, path), 'utf8')),
  )
  expect(importing).toEqual(['kernel/otlp.ts'])
})
