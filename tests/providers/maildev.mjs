// maildev: takes messages by SMTP and tells of them by HTTP. Its SMTP port is the one after that of its HTTP.

import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fault, kase, loadModule, main } from './contract.mjs'

const token = 'standin:secret'
const PATIENCE = 10 * 1000
const TRIES = 20

// A port whose next one is free too.
async function pair () {
  for (let tries = 0; tries < TRIES; tries++) {
    const first = createServer()
    const second = createServer()
    const bound = (server, port) => new Promise(resolve =>
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(server.address().port)))
    const port = await bound(first, 0)
    const both = port < 65535 && await bound(second, port + 1)
    await Promise.all([first, second].map(server => new Promise(resolve => server.close(resolve))))
    if (both) return port
  }
  throw new Error('no two neighbouring ports are free')
}

async function start (wanted) {
  const { MailDev } = await loadModule('maildev', 'dist/index.js')
  const port = wanted || await pair()
  const mailDirectory = mkdtempSync(join(tmpdir(), 'maildev-'))
  const [webUser, webPass] = token.split(':')
  const server = new MailDev({
    ip: '127.0.0.1', webIp: '127.0.0.1', web: port, smtp: port + 1, webUser, webPass, mailDirectory, silent: true
  })
  await server.start()
  return {
    port,
    stop: () => rmSync(mailDirectory, { recursive: true, force: true })
  }
}

// Sends one message, line by line, and hangs up: after the last answer, before the message's end (`cut`), or as soon as
// the message is out, without waiting whether it was taken (`deaf`).
async function send (api, reference, manner) {
  const socket = connect(Number(new URL(api.url).port) + 1, '127.0.0.1')
  socket.setEncoding('latin1')
  const answers = socket[Symbol.asyncIterator]()
  const told = async code => {
    let text = ''
    while (!/^\d{3} .*\r\n/m.test(text)) {
      const { value, done } = await answers.next()
      if (done) throw new Error(`SMTP ended after ${JSON.stringify(text)}`)
      text += value
    }
    if (!text.startsWith(code)) throw new Error(`SMTP answered ${text.trim()} instead of ${code}`)
  }
  const say = line => socket.write(line + '\r\n')

  await told('220')
  for (const [line, code] of [['HELO jobs.example', '250'], ['MAIL FROM:<jobs@shop.example>', '250'],
    ['RCPT TO:<customer@mail.example>', '250'], ['DATA', '354']]) {
    say(line)
    await told(code)
  }
  say(['From: jobs@shop.example', 'To: customer@mail.example', `Subject: Receipt ${reference}`,
    `Message-ID: <${reference}@shop.example>`, `X-Job-Id: ${reference}`, '', 'Thank you.'].join('\r\n'))
  if (manner === 'cut') return socket.destroy()
  say('.')
  if (manner === 'deaf') return socket.end()
  await told('250')
  say('QUIT')
  socket.end()
}

const found = async (api, reference) =>
  (await api.must(200, 'GET', `/api/email?headers.x-job-id=${encodeURIComponent(reference)}`)).json.map(({ id }) => id)

// The ids, once there are as many as there must be.
async function arrived (api, reference, count) {
  for (const began = Date.now(); Date.now() - began < PATIENCE; await sleep(50)) {
    const ids = await found(api, reference)
    if (ids.length === count) return ids
  }
  throw new Error(`${reference} did not arrive ${count} times`)
}

await main({
  name: 'maildev',
  token,
  authorization: `Basic ${Buffer.from(token).toString('base64')}`,
  start,
  async * seed (api) {
    const of = (...rest) => kase('message', ...rest)
    await send(api, 'order-once')
    yield of('order-once', 'happened', await arrived(api, 'order-once', 1), 'one message')
    await send(api, 'order-twice')
    await send(api, 'order-twice')
    yield of('order-twice', 'duplicated', await arrived(api, 'order-twice', 2), 'sent twice with one Message-ID')
    await send(api, 'order-cut', 'cut')
    await send(api, 'order-unheard', 'deaf')
    yield of('order-unheard', 'happened', await arrived(api, 'order-unheard', 1),
      'the sender hung up before it heard that the message was taken')
    await send(api, 'order-nearly-1')
    await arrived(api, 'order-nearly-1', 1)
    yield of('order-nearly', 'not_found', [], 'there is a message order-nearly-1, and none of this name')
    yield of('order-cut', 'not_found', await found(api, 'order-cut'), 'the sender hung up before the end of the message')
    yield of('order-never', 'not_found', [], 'was never sent')
  },
  async * faults () {
    for (const reference of ['order-once', 'order-never']) {
      yield fault('message', reference, 'no_password', '401 without a password', { token: '' })
      yield fault('message', reference, 'wrong_password', '401', { token: 'standin:wrong' })
      yield fault('message', reference, 'old_address', '404: where its older versions answered',
        { path: `/email?headers.x-job-id=${reference}` })
      yield fault('message', reference, 'misspelt', 'an empty list: a filter by a header that no message has',
        { path: `/api/email?headers.x-jobid=${reference}`, canary: 'order-unheard' })
      yield fault('message', reference, 'not_a_list', 'an object instead of a list', { path: '/api/config' })
    }
  }
})
