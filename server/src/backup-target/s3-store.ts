// A bucket of any S3. Bodies are buffers with a known length and Content-MD5: servers that do not know the newer checksums of AWS check them
// too, and object lock requires it.
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { hash } from 'node:crypto'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectLockConfigurationCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
  S3Client,
  type ListObjectVersionsCommandOutput,
} from '@aws-sdk/client-s3'
import { BackupTargetError, isTargetError } from './errors.ts'
import type { ObjectStore, StoredObject } from './object-store.ts'

export interface S3Settings {
  endpoint: string
  /** The name of the region in signatures; servers other than AWS usually take any. */
  region: string
  bucket: string
  /** Of every key, with its slash; empty for none. */
  prefix: string
  accessKeyId: string
  secretAccessKey: string
}

/** Attempts of one request, with growing pauses between them: about half a minute of an overloaded server. */
const ATTEMPTS = 6
const READ_PAUSE_MS = 200
const CONNECT_TIMEOUT_MS = 10_000
/** Without a byte. */
const IDLE_TIMEOUT_MS = 60_000

export interface S3Store extends ObjectStore {
  close(): void
}

export function openS3Store(settings: S3Settings): S3Store {
  const { bucket: Bucket, prefix } = settings
  const client = new S3Client({
    endpoint: settings.endpoint,
    region: settings.region,
    forcePathStyle: true,
    credentials: { accessKeyId: settings.accessKeyId, secretAccessKey: settings.secretAccessKey },
    maxAttempts: ATTEMPTS,
    retryMode: 'standard',
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
  })
  const object = (key: string, version: string | null) => ({
    Bucket,
    Key: `${prefix}${key}`,
    ...(version === null ? {} : { VersionId: version }),
  })

  return {
    put: async (key, body, { lockedUntil, onlyIfMissing }, signal) => {
      const lock = lockedUntil ? { ObjectLockMode: 'COMPLIANCE' as const, ObjectLockRetainUntilDate: lockedUntil } : {}
      const condition = onlyIfMissing ? { IfNoneMatch: '*' } : {}
      const request = {
        ...object(key, null),
        Body: body,
        ContentLength: body.length,
        ContentMD5: hash('md5', body, 'base64'),
        ...lock,
        ...condition,
      }
      try {
        const { VersionId } = await client.send(new PutObjectCommand(request), { abortSignal: signal })
        return { version: VersionId ?? null }
      } catch (error) {
        if (onlyIfMissing && statusOf(error) === 412) return { version: null }
        throw toTargetError(error, Bucket, `storing ${key}`)
      }
    },

    get: async (key, version, maxBytes, signal) => {
      for (let attempt = 1; ; attempt++) {
        try {
          const { Body } = await client.send(new GetObjectCommand(object(key, version)), { abortSignal: signal })
          return await readBody(key, Body as Readable, maxBytes)
        } catch (error) {
          const failure = isTargetError(error) ? error : toTargetError(error, Bucket, `reading ${key}`)
          // The client itself repeats what fails before the body begins.
          if (statusOf(error) !== undefined || !failure.retry || attempt === ATTEMPTS || signal.aborted) throw failure
        }
        await delay(READ_PAUSE_MS * 2 ** attempt)
      }
    },

    list: async function* (folder, signal) {
      let next: { KeyMarker?: string; VersionIdMarker?: string } | undefined = {}
      while (next) {
        const page: ListObjectVersionsCommandOutput = await client
          .send(new ListObjectVersionsCommand({ Bucket, Prefix: `${prefix}${folder}`, ...next }), { abortSignal: signal })
          .catch((error: unknown) => {
            throw toTargetError(error, Bucket, `listing ${folder}`)
          })
        const found = [
          ...(page.Versions ?? []).map((each) => toStoredObject(each, prefix, false)),
          ...(page.DeleteMarkers ?? []).map((each) => toStoredObject(each, prefix, true)),
        ]
        yield* found.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : Number(b.isLatest) - Number(a.isLatest)))
        next = page.IsTruncated ? { KeyMarker: page.NextKeyMarker!, VersionIdMarker: page.NextVersionIdMarker! } : undefined
      }
    },

    remove: async (key, version, signal) => {
      try {
        await client.send(new DeleteObjectCommand(object(key, version)), { abortSignal: signal })
      } catch (error) {
        const failure = toTargetError(error, Bucket, `deleting ${key}`)
        if (failure.kind === 'refused' && version !== null && (await isLocked(key, version, signal)))
          throw new BackupTargetError('locked', `The object ${key} is locked against deletion`, error)
        throw failure
      }
    },

    extendLock: async (key, version, until, signal) => {
      const Retention = { Mode: 'COMPLIANCE' as const, RetainUntilDate: until }
      try {
        await client.send(new PutObjectRetentionCommand({ ...object(key, version), Retention }), { abortSignal: signal })
      } catch (error) {
        throw toTargetError(error, Bucket, `locking ${key}`)
      }
    },

    hasObjectLock: async (signal) => {
      try {
        const { ObjectLockConfiguration } = await client.send(new GetObjectLockConfigurationCommand({ Bucket }), { abortSignal: signal })
        return ObjectLockConfiguration?.ObjectLockEnabled === 'Enabled'
      } catch (error) {
        const failure = toTargetError(error, Bucket, 'reading the object lock')
        if (failure.kind === 'missing') return false
        throw failure
      }
    },

    close: () => client.destroy(),
  }

  /** Deleting without permission gives the same answer as deleting what is locked. */
  async function isLocked(key: string, version: string, signal: AbortSignal): Promise<boolean> {
    const head = await client.send(new HeadObjectCommand(object(key, version)), { abortSignal: signal }).catch(() => undefined)
    return head?.ObjectLockRetainUntilDate !== undefined
  }
}

async function readBody(key: string, body: Readable, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    length += part.length
    if (length > maxBytes) throw new BackupTargetError('damaged', `The object ${key} is larger than the ${maxBytes} bytes that were stored`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

interface Listed {
  Key?: string | undefined
  Size?: number | undefined
  VersionId?: string | undefined
  IsLatest?: boolean | undefined
}

const toStoredObject = ({ Key, Size, VersionId, IsLatest }: Listed, prefix: string, isDeleteMarker: boolean): StoredObject => ({
  key: Key!.slice(prefix.length),
  sizeBytes: Size ?? 0,
  version: VersionId ?? 'null',
  isLatest: IsLatest ?? true,
  isDeleteMarker,
})

interface SdkError {
  name: string
  message: string
  $metadata?: { httpStatusCode?: number }
}

const statusOf = (error: unknown): number | undefined => (error as SdkError).$metadata?.httpStatusCode

/** The bytes changed on their way, so they may arrive the next time. */
const CHANGED_ON_THE_WAY = ['BadDigest', 'XAmzContentSHA256Mismatch', 'IncompleteBody']

function toTargetError(error: unknown, bucket: string, what: string): BackupTargetError {
  const { name, message } = error as SdkError
  const status = statusOf(error)
  // The client says UnknownError where the server sends a code without a text; OpenSSL's texts have several lines.
  const detail = message === name || message === 'UnknownError' ? '' : message.trim().replaceAll(/\s+/g, ' ')
  const failed = (kind: ConstructorParameters<typeof BackupTargetError>[0], why: string) =>
    new BackupTargetError(kind, `${what} in the bucket ${bucket} failed: ${why} (${name}${detail && `: ${detail}`})`, error)
  if (name === 'AbortError') return failed('aborted', 'it was cancelled, or the server took too long')
  if (name === 'NoSuchBucket') return failed('no_bucket', 'the bucket does not exist')
  if (status === 404) return failed('missing', 'the object is missing')
  if (status === 401 || status === 403) return failed('refused', 'access was refused')
  if (CHANGED_ON_THE_WAY.includes(name)) return failed('unavailable', 'the bytes changed on their way')
  if (status === undefined || status === 408 || status === 429 || status >= 500) return failed('unavailable', 'the server does not answer')
  return failed('rejected', `it answered ${status}`)
}
