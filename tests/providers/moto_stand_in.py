"""moto's S3: a HEAD that is 200 or 404, and 403 for all, there or not, once it asks who is asking."""

import logging
import signal
from urllib.parse import quote

from contract import StandIn, case, fault, main

BUCKET = "receipts"


class Moto(StandIn):
    PACKAGE = "moto"
    # Any key and signature of this shape will do, until the accounts are looked at.
    TOKEN = ("AWS4-HMAC-SHA256 Credential=STANDIN/20260101/us-east-1/s3/aws4_request, "
             "SignedHeaders=host, Signature=0000")
    AUTHORIZATION = TOKEN

    def serve(self, port, ready):
        from moto.moto_server.threaded_moto_server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        server = ThreadedMotoServer("127.0.0.1", port, verbose=False)
        server.start()
        ready(server.get_host_and_port()[1])
        signal.pause()

    def seed(self, api):
        def put(reference, content=b"paid", wanted=200, **more):
            answer = api.call("PUT", f"/{BUCKET}/{quote(reference, safe='')}", body=content, headers={
                "Content-Type": "application/octet-stream", "x-amz-meta-reference": quote(reference), **more})
            if answer.status != wanted:
                raise RuntimeError(f"PUT {reference} answered {answer.status} instead of {wanted}")
            return answer.headers["ETag"]

        def of(*arguments):
            return case("object", *arguments)

        if api.call("PUT", f"/{BUCKET}").status != 200:
            raise RuntimeError("no bucket was made")
        yield of("order-once", "happened", [put("order-once")], "the object is there")
        put("order-twice")
        yield of("order-twice", "happened", [put("order-twice", b"paid again")],
                 "written twice under one key: the last one shows, so it is one")
        kept = put("order-guarded")
        put("order-guarded", b"paid again", 412, **{"If-None-Match": "*"})
        yield of("order-guarded", "happened", [kept], "the second write was refused with 412 (If-None-Match: *)")
        yield of("order-empty", "happened", [put("order-empty", b"")], "an object of no bytes is there all the same")
        odd = "order-ö&50% [1]"
        yield of(odd, "happened", [put(odd)], "a key that must be escaped")
        yield of("order-never", "not_found", [], "404 by one who may see the bucket")
        # Once it checks rights, this would be a 403.
        for reference in ("order-once", "order-never"):
            yield fault("object", reference, "no_bucket", "404 for both, as for a key that is not there",
                        ask={"bucket": "receipt"})

    def faults(self, api):
        # From now on it checks keys and rights. Ours is nobody's, and that is all that it says of any object.
        api.made("/moto-api/reset-auth", body=b"0", headers={"Content-Type": "text/plain"})
        for reference in ("order-once", "order-never"):
            yield fault("object", reference, "forbidden", "403 for what is there and for what is not")
        yield fault("object", "order-once", "nobody", "403 for one who does not say who they are", ask={"token": ""})
        yield fault("object", "order-never", "nobody", "500 for the same, where there is nothing", ask={"token": ""})


main(Moto())
