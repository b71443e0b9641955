//! A provider on loopback that knows one effect of each reference with `charged` in it, two of each with `twice` and none of
//! others, and that takes escalations.

use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio::runtime::Runtime;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

/// The provider, as long as this lives.
pub struct Ledger {
    server: MockServer,
    notices: Notices,
    _runtime: Runtime,
}

impl Ledger {
    pub fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let notices = Notices::default();
        let server = runtime.block_on(async {
            // A test asks thousands of times: nobody wants to read the requests again.
            let server = MockServer::builder().disable_request_recording().start().await;
            Mock::given(method("GET")).respond_with(Book).mount(&server).await;
            Mock::given(method("POST"))
                .and(path("/notices"))
                .respond_with(notices.clone())
                .mount(&server)
                .await;
            server
        });
        Self { server, notices, _runtime: runtime }
    }

    /// The shipped example's configuration on this provider, which may be asked as fast as it answers, and which takes
    /// escalations too.
    pub fn configuration(&self) -> String {
        let example = include_str!("../../config.example.toml");
        let (address, pace) = ("http://127.0.0.1:8421", "pace_per_second = 50 ");
        assert!(example.contains(address) && example.contains(pace));
        let url = self.server.uri();
        let ours = example.replace(address, &url).replace(pace, "pace_per_second = 100000 ");
        format!("{ours}\n[escalation]\nurl = \"{url}/notices\"\n")
    }

    /// The keys of the escalations that arrived, each as often as it arrived.
    pub fn notices(&self) -> Vec<String> {
        self.notices.0.lock().unwrap().iter().map(|(key, _)| key.clone()).collect()
    }

    /// What the escalations that arrived say.
    pub fn told(&self) -> Vec<String> {
        self.notices.0.lock().unwrap().iter().map(|(_, body)| body.clone()).collect()
    }
}

/// Answers look-ups of charges and e-mails.
struct Book;

impl Respond for Book {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut asked = request.url.query_pairs();
        let of_one = asked.find(|(name, _)| matches!(&**name, "reference" | "message_key"));
        // It knows what it is asked for and has no list.
        let Some((name, reference)) = of_one else { return ResponseTemplate::new(400) };
        let mut effect = json!({
            "id": format!("ch_{reference}"), "status": "succeeded", "amount": 1200, "currency": "eur",
            "created": 1_800_000_000,
        });
        effect[&*name] = json!(reference);
        let mut again = effect.clone();
        again["id"] = json!(format!("ch_{reference}_again"));
        again["created"] = json!(1_800_000_034);
        let data = match &*reference {
            twice if twice.contains("twice") => vec![effect, again],
            once if once.contains("charged") => vec![effect],
            _ => Vec::new(),
        };
        ResponseTemplate::new(200).set_body_json(json!({ "object": "list", "data": data, "has_more": false }))
    }
}

/// Takes escalations and remembers their keys and what they say.
#[derive(Clone, Default)]
struct Notices(Arc<Mutex<Vec<(String, String)>>>);

impl Respond for Notices {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let key = request.headers.get("Idempotency-Key").unwrap().to_str().unwrap().to_owned();
        let body = String::from_utf8(request.body.clone()).unwrap();
        self.0.lock().unwrap().push((key, body));
        ResponseTemplate::new(202)
    }
}
