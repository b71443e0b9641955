"""localstripe: Stripe's payment intents and refunds. It ignores idempotency keys, so that duplicates are real."""

from contract import StandIn, case, fault, listen, main

OTHERS = 205  # with the cases more than two pages of a hundred
VISA = "4242424242424242"
DECLINED_LATER = "4000000000000341"  # is accepted, and declines each charge
ASKS_ITS_OWNER = "4000002500003155"  # 3-D Secure, which nobody answers here
PRICE = ("12.99", "EUR")


class LocalStripe(StandIn):
    PACKAGE = "localstripe"
    TOKEN = "sk_test_standin"
    AUTHORIZATION = f"Bearer {TOKEN}"

    def serve(self, port, ready):
        from aiohttp import web
        from localstripe import resources, server

        # In memory alone: what it writes is one file in /tmp that all of them share.
        resources.Store.dump_to_disk = lambda store: None
        listening = listen(port)

        async def started(_):
            ready(listening.getsockname()[1])

        server.app.on_startup.append(started)
        web.run_app(server.app, sock=listening, print=None, access_log=None, shutdown_timeout=1)

    def seed(self, api):
        yield from self.intents(api)
        yield from self.refunds(api)

    def intents(self, api):
        def intent(reference, card=VISA, amount=1299, currency="eur", confirm="true", wanted=200, **more):
            method = api.made("/v1/payment_methods", form={
                "type": "card", "card[number]": card, "card[exp_month]": 12, "card[exp_year]": 2035,
                "card[cvc]": "123"})
            made = api.made("/v1/payment_intents", wanted=(wanted,), form={
                "amount": amount, "currency": currency, "payment_method": method["id"], "confirm": confirm,
                "metadata[reference]": reference, **more}, headers={"Idempotency-Key": reference})
            if wanted == 200:
                return made["id"]
            # The answer that a card was declined does not say of which intent.
            return api.call("GET", "/v1/payment_intents?limit=1000").json["data"][-1]["id"]

        def of(*arguments, **more):
            return case("payment_intent", *arguments, **{"money": PRICE} | more)

        first = intent("order-twice")
        yield of("order-once", "happened", [intent("order-once")], "one intent, succeeded")
        yield of("order-never", "not_found", [], "no intent has this reference")
        yield of("order-declined", "failed", [intent("order-declined", card=DECLINED_LATER, wanted=402)],
                 "402 card_declined; the intent is kept, requires_payment_method")
        declined = intent("order-second-try", card=DECLINED_LATER, wanted=402)
        yield of("order-second-try", "happened", [declined, intent("order-second-try")],
                 "one intent declined, another succeeded: one effect")
        failed = intent("order-failed", confirm="false")
        api.made(f"/v1/payment_intents/{failed}/cancel")
        yield of("order-failed", "failed", [failed], "cancelled before it was confirmed")
        yield of("order-pending", "pending", [intent("order-pending", card=ASKS_ITS_OWNER)],
                 "requires_action: 3-D Secure was never answered")
        yield of("order-yen", "happened", [intent("order-yen", amount=1500, currency="jpy")],
                 "1500 in a currency without decimals", money=("1500", "JPY"))
        yield of("order-less", "mismatch", [intent("order-less", amount=1200)], "12.00 instead of 12.99")
        odd = "order-ö&50% [1]"
        yield of(odd, "happened", [intent(odd)], "a reference that must be escaped")
        for number in range(OTHERS):
            intent(f"other-{number}", amount=100 + number)
        yield of("order-twice", "duplicated", [first, intent("order-twice")],
                 "sent twice with one Idempotency-Key; the two are on the first and the last page")

    def refunds(self, api):
        method = api.made("/v1/payment_methods", form={
            "type": "card", "card[number]": VISA, "card[exp_month]": 12, "card[exp_year]": 2035, "card[cvc]": "123"})
        paid = api.made("/v1/payment_intents", form={
            "amount": 5000, "currency": "eur", "payment_method": method["id"], "confirm": "true"})

        def refund(reference):
            return api.made("/v1/refunds", form={
                "payment_intent": paid["id"], "amount": 1000, "metadata[reference]": reference})["id"]

        money = ("10.00", "EUR")
        yield case("refund", "refund-once", "happened", [refund("refund-once")], "one refund", money)
        yield case("refund", "refund-twice", "duplicated", [refund("refund-twice"), refund("refund-twice")],
                   "two refunds of one payment", money)
        yield case("refund", "refund-never", "not_found", [], "no refund has this reference", money)

    def faults(self, api):
        for reference in ("order-once", "order-never"):
            for name, why, ask in (
                    ("no_key", "401 without a key", {"token": ""}),
                    ("unknown_filter", "400 Unexpected created",
                     {"path": "/v1/payment_intents?limit=100&created%5Bgte%5D=1600000000"}),
                    ("no_search", "404: taken for an intent of the name search",
                     {"path": "/v1/payment_intents/search?query=metadata%5B%27reference%27%5D%3A%27x%27"}),
                    ("crash", "500 with a text that is not JSON", {"path": "/v1/charges?payment_intent=pi_1"}),
                    ("not_implemented", "500 with a JSON error", {"path": "/v1/charges?created%5Bgte%5D=1600000000"})):
                yield fault("payment_intent", reference, name, why, ask)


main(LocalStripe())
