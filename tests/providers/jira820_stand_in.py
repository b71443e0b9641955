"""jira820: a Jira Data Center of 8.20 with a project full of issues; a reference is a label."""

from contract import StandIn, case, fault, listen, main


class Jira(StandIn):
    PACKAGE = "jira820"

    def serve(self, port, ready):
        import uvicorn
        from jira820.config import Config
        from jira820.server import make_app

        listening = listen(port)

        class Server(uvicorn.Server):
            async def startup(self, sockets=None):
                await super().startup(sockets=sockets)
                ready(listening.getsockname()[1])

        server = Server(uvicorn.Config(make_app(config=Config()), log_level="warning", timeout_graceful_shutdown=1))
        server.run(sockets=[listening])

    def seed(self, api):
        def issue(*labels):
            return api.made("/rest/api/2/issue", body={"fields": {
                "project": {"key": "JIRA820"}, "issuetype": {"name": "Task"}, "summary": f"Escalated: {labels[0]}",
                "labels": ["escalated", *labels]}})["key"]

        def of(*arguments):
            return case("issue", *arguments)

        yield of("order-once", "happened", [issue("order-once")], "one issue has the label")
        yield of("order-twice", "duplicated", [issue("order-twice"), issue("order-twice")], "two issues have it")
        yield of("order-never", "not_found", [], "no issue has it")
        issue("order-nearly-1")
        yield of("order-nearly", "not_found", [], "an issue has the label order-nearly-1, and none this one")
        done = issue("order-done")
        api.made(f"/rest/api/2/issue/{done}/transitions", wanted=(204,),
                 body={"transition": {"id": self.closes(api, done)}})
        yield of("order-done", "happened", [done], "the issue was made, and is closed by now")
        shared = issue("order-first", "order-second")
        yield of("order-first", "happened", [shared], "one issue with the labels of two jobs")
        yield of("order-second", "happened", [shared], "one issue with the labels of two jobs")
        odd = "order-ö&50%[1]"
        yield of(odd, "happened", [issue(odd)], "a label that must be escaped")

    def closes(self, api, key):
        known = api.call("GET", f"/rest/api/2/issue/{key}/transitions").json["transitions"]
        return next(each["id"] for each in known if each["to"]["name"] == "Done")

    def faults(self, api):
        for reference in ("order-once", "order-never"):
            yield fault("issue", reference, "not_its_api", "404 at the address of Jira Cloud's search",
                        ask={"path": "/rest/api/3/search/jql?jql=project%20%3D%20JIRA820"})
            yield fault("issue", reference, "bad_parameter", "422 for a page size that is no number",
                        ask={"path": "/rest/api/2/search?maxResults=all"})


main(Jira())
