import { describe, expect, test } from 'vitest'
import { appletsOf } from './build.ts'
import { linkingOf, readLinking } from './libraries.ts'

describe('shared libraries', () => {
  test('are read from a program of this machine', async () => {
    const { interpreter, needed } = await readLinking(process.execPath)
    expect(interpreter).toMatch(/\/ld-linux/)
    expect(needed).toContain('libc.so.6')
  })

  test('are not read from a file that is no program', () => {
    expect(() => linkingOf(Buffer.from('#!/bin/sh\necho a script is not a program\n'))).toThrow('not a 64-bit program')
  })
})

test('the applets of busybox are read from its name table', () => {
  const busybox = Buffer.from('junk\0[\0[[\0acpid\0zcat\0\0junk\0')
  expect(appletsOf(busybox)).toEqual(['[', '[[', 'acpid', 'zcat'])
  expect(() => appletsOf(Buffer.from('nothing'))).toThrow('does not list')
})
