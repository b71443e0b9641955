//! A provider on loopback that knows one effect of each reference with `charged` in it, two of each with `twice` and none of
//! others, and that takes escalations.

use serde_json::{Value, json};
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

/// When an effect happened, where nobody says another time.
const USUALLY_CREATED: i64 = 1_800_000_000;

impl Ledger {
    /// It knows what it is asked for and has no list.
    pub fn new() -> Self {
        Self::with(Book { created: USUALLY_CREATED, listed: Vec::new() })
    }

    /// Its effects happened then, and it lists those of these references: one e-mail too.
    pub fn that_lists(references: &[&str], created: i64) -> Self {
        let listed = references.iter().map(|&reference| reference.to_owned()).collect();
        Self::with(Book { created, listed })
    }

    fn with(book: Book) -> Self {
        let runtime = Runtime::new().unwrap();
        let notices = Notices::default();
        let server = runtime.block_on(async {
            // A test asks thousands of times: nobody wants to read the requests again.
            let server = MockServer::builder().disable_request_recording().start().await;
            Mock::given(method("GET")).respond_with(book).mount(&server).await;
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

    /// Where it is.
    pub fn url(&self) -> String {
        self.server.uri()
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

/// Answers look-ups of charges and e-mails, and lists of both where it has any.
struct Book {
    /// When the effects happened, in seconds.
    created: i64,
    /// The references of the list.
    listed: Vec<String>,
}

/// An e-mail that went out once: a list that shows nothing proves nothing.
const EMAIL: &str = "welcome-charged";

impl Book {
    /// What it knows of one reference.
    fn of(&self, name: &str, reference: &str) -> Vec<Value> {
        let effect = |id: String, created: i64| {
            let mut effect = json!({
                "id": id, "status": "succeeded", "amount": 1200, "currency": "eur", "created": created,
            });
            effect[name] = json!(reference);
            effect
        };
        let first = effect(format!("ch_{reference}"), self.created);
        match reference {
            twice if twice.contains("twice") => {
                vec![first, effect(format!("ch_{reference}_again"), self.created + 34)]
            }
            once if once.contains("charged") => vec![first],
            _ => Vec::new(),
        }
    }
}

impl Respond for Book {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut asked = request.url.query_pairs();
        let of_one = asked.find(|(name, _)| matches!(&**name, "reference" | "message_key"));
        let data = match of_one {
            Some((name, reference)) => self.of(&name, &reference),
            None if self.listed.is_empty() => return ResponseTemplate::new(400),
            None if request.url.path().contains("charges") => {
                let mut all: Vec<Value> =
                    self.listed.iter().flat_map(|reference| self.of("reference", reference)).collect();
                all.sort_by_key(|effect| std::cmp::Reverse(effect["created"].as_i64()));
                all
            }
            None => self.of("message_key", EMAIL),
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
