// s3rver: an S3 that asks nobody who they are: a HEAD is 200 or 404. For one who says so badly it is 403.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fault, kase, listen, load, main } from './contract.mjs'

const BUCKET = 'receipts'

await main({
  name: 's3rver',
  token: null,
  async start (port) {
    const S3rver = load('s3rver')
    const directory = mkdtempSync(join(tmpdir(), 's3rver-'))
    const server = new S3rver({
      address: '127.0.0.1', port, directory, silent: true, vhostBuckets: false, configureBuckets: [{ name: BUCKET }]
    })
    const { port: bound } = await server.run()
    return { port: bound, stop: () => rmSync(directory, { recursive: true, force: true }) }
  },
  async * seed (api) {
    const of = (...rest) => kase('object', ...rest)
    const put = async (reference, body = 'paid') => {
      const key = encodeURIComponent(reference)
      const what = { body, headers: { 'x-amz-meta-reference': key } }
      return (await api.must(200, 'PUT', `/${BUCKET}/${key}`, what)).headers.get('etag')
    }
    yield of('order-once', 'happened', [await put('order-once')], 'the object is there')
    await put('order-twice')
    yield of('order-twice', 'happened', [await put('order-twice', 'paid again')],
      'written twice under one key: the last one shows, so it is one')
    yield of('order-empty', 'happened', [await put('order-empty', '')], 'an object of no bytes is there all the same')
    const odd = 'order-ö&50% [1]'
    yield of(odd, 'happened', [await put(odd)], 'a key that must be escaped')
    await put('order-deleted')
    await api.must(204, 'DELETE', `/${BUCKET}/order-deleted`)
    yield of('order-deleted', 'not_found', [], 'written and deleted since: looks like one that never was')
    yield of('order-never', 'not_found', [], '404')
  },
  async * faults () {
    for (const reference of ['order-once', 'order-never']) {
      yield fault('object', reference, 'denied', '403 for what is there and for what is not',
        { token: 'AWS NOBODY:c2ln' })
      yield fault('object', reference, 'no_bucket', '404 for both, as for a key that is not there', { bucket: 'receipt' })
      yield fault('object', reference, 'malformed_key', '400 for both', { token: 'AWS4-HMAC-SHA256 nonsense' })
    }
  }
})
