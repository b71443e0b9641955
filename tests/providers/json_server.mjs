// json-server: a REST service out of an object, with pages by `Link`. What it holds is ours: payments as a ledger of
// one's own might keep them.

import { createServer } from 'node:http'
import { fault, kase, listen, load, main } from './contract.mjs'

const PRICE = ['12.99', 'EUR']
const OTHERS = 45 // with the cases more than two pages of twenty

await main({
  name: 'json-server',
  token: null,
  async start (port) {
    const jsonServer = load('json-server')
    const app = jsonServer.create()
    app.use(jsonServer.defaults({ logger: false }))
    app.use(jsonServer.router({ payments: [] }))
    return listen(createServer(app), port)
  },
  async * seed (api) {
    const pay = async (reference, status, more) => (await api.must(201, 'POST', '/payments', {
      json: { reference, status, amount: '12.99', currency: 'EUR', created_at: new Date().toISOString(), ...more }
    })).json.id
    const of = (reference, expect, ids, why, money = PRICE) =>
      kase('payment', reference, expect, ids.map(String), why, money)

    const first = await pay('order-twice', 'paid')
    yield of('order-once', 'happened', [await pay('order-once', 'paid')], 'one payment')
    yield of('order-never', 'not_found', [], 'no payment has this reference')
    yield of('order-pending', 'pending', [await pay('order-pending', 'processing')], 'processing')
    yield of('order-failed', 'failed', [await pay('order-failed', 'declined')], 'declined')
    const declined = await pay('order-second-try', 'declined')
    yield of('order-second-try', 'happened', [declined, await pay('order-second-try', 'paid')],
      'one declined, one paid: one effect')
    yield of('order-unlisted', 'unknown', [await pay('order-unlisted', 'on_hold')], 'a status that no list has: on_hold')
    yield of('order-without-status', 'unknown', [await pay('order-without-status', undefined)],
      'a payment without a status')
    yield of('order-null-status', 'unknown', [await pay('order-null-status', null)], 'a payment with the status null')
    yield of('order-yen', 'happened', [await pay('order-yen', 'paid', { amount: '1500', currency: 'JPY' })],
      'a currency without decimals', ['1500', 'JPY'])
    yield of('order-less', 'mismatch', [await pay('order-less', 'paid', { amount: '12.00' })], '12.00 instead of 12.99')
    yield of('order-dollars', 'mismatch', [await pay('order-dollars', 'paid', { currency: 'USD' })],
      'USD instead of EUR')
    await pay('order-nearly-1', 'paid')
    yield of('order-nearly', 'not_found', [], 'there is a payment order-nearly-1, and none of this name')
    const odd = 'order-ö&50% [1]'
    yield of(odd, 'happened', [await pay(odd, 'paid')], 'a reference that must be escaped')
    for (let number = 0; number < OTHERS; number++) await pay(`other-${number}`, 'paid')
    yield of('order-twice', 'duplicated', [first, await pay('order-twice', 'paid')],
      'paid twice; the two are on the first and the last page of twenty')
  },
  async * faults () {
    for (const reference of ['order-once', 'order-never']) {
      yield fault('payment', reference, 'misspelt', '404 with {}: on a list no absence',
        { path: '/payment?_page=1&_limit=20' })
      yield fault('payment', reference, 'no_page', 'one page of twenty and no Link at all, as if that were everything',
        { path: '/payments?_limit=20' })
      yield fault('payment', reference, 'not_a_list', 'the whole store, an object, instead of a list', { path: '/db' })
      yield fault('payment', reference, 'script', 'a call of a JavaScript function instead of JSON',
        { path: '/payments?_page=1&_limit=20&callback=read' })
    }
  }
})
