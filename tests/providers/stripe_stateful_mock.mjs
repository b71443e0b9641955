// stripe-stateful-mock: Stripe's charges and refunds, with idempotency keys that are really kept: replays, mismatches,
// stored errors. It can also say yes and keep nothing.

import { createServer } from 'node:http'
import { fault, kase, listen, load, main } from './contract.mjs'

const token = 'sk_test_standin'
const PRICE = ['12.99', 'EUR']
const OTHERS = 205 // with the cases more than two pages of a hundred

async function charge (api, status, reference, { key, ...more } = {}) {
  const { json, headers } = await api.must(status, 'POST', '/v1/charges', {
    form: { amount: '1299', currency: 'eur', source: 'tok_visa', 'metadata[reference]': reference, ...more },
    headers: key ? { 'idempotency-key': key } : {}
  })
  const replayed = headers.get('idempotent-replayed') === 'true'
  return { id: json.id ?? json.error.charge, type: json.error?.type, replayed }
}

function insist (holds, what) {
  if (!holds) throw new Error(what)
}

async function * charges (api) {
  const of = (reference, expect, ids, why, money = PRICE) => kase('charge', reference, expect, ids, why, money)
  let made, again

  const first = await charge(api, 200, 'order-twice', { key: 'twice-1' })
  made = await charge(api, 200, 'order-once', { key: 'once' })
  yield of('order-once', 'happened', [made.id], 'one charge, succeeded')
  yield of('order-never', 'not_found', [], 'no charge has this reference')

  made = await charge(api, 200, 'order-replayed', { key: 'replayed' })
  again = await charge(api, 200, 'order-replayed', { key: 'replayed' })
  insist(again.replayed && again.id === made.id, 'the second charge was no replay')
  yield of('order-replayed', 'happened', [made.id], 'sent twice with one key: the second answer is a replay')

  made = await charge(api, 200, 'order-changed', { key: 'changed' })
  again = await charge(api, 400, 'order-changed', { key: 'changed', amount: '1300' })
  insist(again.type === 'idempotency_error', 'the key was taken for another amount')
  yield of('order-changed', 'happened', [made.id], 'sent again with the key and another amount: 400 idempotency_error')

  await charge(api, 500, 'order-crashed', { key: 'crashed', source: 'tok_500' })
  again = await charge(api, 500, 'order-crashed', { key: 'crashed', source: 'tok_500' })
  insist(again.replayed, 'the second 500 was no replay')
  yield of('order-crashed', 'not_found', [], 'a 500, kept and replayed; no charge was made')

  await charge(api, 500, 'order-crashed-once', { key: 'crashed-once-1', source: 'tok_500' })
  made = await charge(api, 200, 'order-crashed-once', { key: 'crashed-once-2' })
  yield of('order-crashed-once', 'happened', [made.id], 'a 500 without a charge, then a charge under a new key')

  await charge(api, 429, 'order-limited', { key: 'limited', source: 'tok_429' })
  yield of('order-limited', 'not_found', [], 'a 429; no charge was made')

  await charge(api, 200, 'order-forgotten', { key: 'forgotten', source: 'tok_forget' })
  yield of('order-forgotten', 'not_found', [], 'answered 200 with a charge, and kept none')

  made = await charge(api, 402, 'order-failed', { key: 'failed', source: 'tok_chargeDeclined' })
  yield of('order-failed', 'failed', [made.id], 'card_declined; the charge is kept, failed')

  const poor = 'tok_chargeDeclinedInsufficientFunds'
  const declined = await charge(api, 402, 'order-second-try', { key: 'second-try-1', source: poor })
  made = await charge(api, 200, 'order-second-try', { key: 'second-try-2' })
  yield of('order-second-try', 'happened', [declined.id, made.id], 'one charge declined, another succeeded: one effect')

  made = await charge(api, 200, 'order-yen', { amount: '1500', currency: 'jpy' })
  yield of('order-yen', 'happened', [made.id], '1500 in a currency without decimals', ['1500', 'JPY'])
  made = await charge(api, 200, 'order-less', { amount: '1200' })
  yield of('order-less', 'mismatch', [made.id], '12.00 instead of 12.99')
  const odd = 'order-ö&50% [1]'
  made = await charge(api, 200, odd)
  yield of(odd, 'happened', [made.id], 'a reference that must be escaped')

  for (let number = 0; number < OTHERS; number++) await charge(api, 200, `other-${number}`)
  made = await charge(api, 200, 'order-twice', { key: 'twice-2' })
  yield of('order-twice', 'duplicated', [first.id, made.id],
    'sent twice with a new key each; the two are far apart in the list')
}

async function * refunds (api) {
  const of = (reference, expect, ids, why) => kase('refund', reference, expect, ids, why, ['3.00', 'EUR'])
  const paid = await charge(api, 200, 'refunded')
  const refund = async (reference, key) => (await api.must(200, 'POST', '/v1/refunds', {
    form: { charge: paid.id, amount: '300', 'metadata[reference]': reference }, headers: { 'idempotency-key': key }
  })).json.id
  const once = await refund('refund-once', 'refund-once')
  insist(await refund('refund-once', 'refund-once') === once, 'the second refund was no replay')
  yield of('refund-once', 'happened', [once], 'sent twice with one key')
  const twice = [await refund('refund-twice', 'refund-2'), await refund('refund-twice', 'refund-3')]
  yield of('refund-twice', 'duplicated', twice, 'two refunds of one charge')
  yield of('refund-never', 'not_found', [], 'no refund has this reference')
}

await main({
  name: 'stripe-stateful-mock',
  token,
  authorization: `Bearer ${token}`,
  async start (port) {
    load('loglevel').setLevel('silent')
    return listen(createServer(load('stripe-stateful-mock').createExpressApp()), port)
  },
  async * seed (api) {
    yield * charges(api)
    yield * refunds(api)
  },
  async * faults () {
    for (const reference of ['order-once', 'order-never']) {
      yield fault('charge', reference, 'no_key', '401 without a key', { token: '' })
      yield fault('charge', reference, 'live_key', '401 for a key of the live mode', { token: 'sk_live_standin' })
      yield fault('payment_intent', reference, 'not_its_api', '404 with a JSON error: it has no payment intents',
        { path: '/v1/payment_intents?limit=100' })
      yield fault('charge', reference, 'lost_cursor', '404 for a page after a charge that is not there',
        { path: '/v1/charges?limit=100&starting_after=ch_gone' })
    }
  }
})
