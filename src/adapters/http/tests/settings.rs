use super::server::{Act, Scripted, answer};
use super::*;
use crate::domain::cell::hex;
use crate::domain::mask::MASK;
use crate::preset::provider::{Lookback, OperationSettings};
use chrono::TimeDelta;
use pretty_assertions::assert_eq;
use rstest::rstest;
use sha2::{Digest, Sha256};

fn nothing() -> Act {
    answer("200 OK", "", r#"{"data":[],"more":false}"#)
}

#[tokio::test]
async fn a_question_is_sent_as_declared() {
    let server = Scripted::start(vec![nothing()]).await;
    let question = Question { from: Some("2026-11-29T10:00:00Z".parse().unwrap()), ..question() };
    let answered = provider(&server.base, "list").ask(&question).await;
    let request = server.requests().remove(0);
    assert!(request.starts_with("GET /v1/charges?reference=r-1&since=1795945800 HTTP/1.1\r\n"), "{request}");
    let head = request.to_lowercase();
    assert!(head.contains(&format!("authorization: bearer {}\r\n", SECRET.to_lowercase())));
    assert!(head.contains(&format!("user-agent: unstuck/{}\r\n", env!("CARGO_PKG_VERSION"))));
    assert!(head.contains("accept-encoding: identity\r\n"));
    let Answer::Complete { seen_from, .. } = answered.answer else { panic!() };
    assert_eq!(seen_from, Some("2026-11-29T09:50:00Z".parse().unwrap()));
    assert_eq!(
        answered.evidence.asked[0].url,
        format!("{}/v1/charges?reference=r-1&since=1795945800", server.base)
    );
    assert_eq!(answered.evidence.check, "test.list");
    assert_eq!(answered.evidence.reference.as_deref(), Some("r-1"));
}

#[tokio::test]
async fn the_hash_is_over_the_bytes_of_every_answer() {
    let bodies = ["{\"error\": \"x\"}", "\u{feff}{\"data\":[],\"more\":false}"];
    let server =
        Scripted::start(vec![answer("500 Oops", "", bodies[0]), answer("200 OK", "", bodies[1])]).await;
    let evidence = provider(&server.base, "list").ask(&question()).await.evidence;
    let hashes = bodies.map(|body| hex(&Sha256::digest(body.as_bytes())));
    let tries = &evidence.asked[0].tries;
    assert_eq!([tries[0].body_sha256.clone(), tries[1].body_sha256.clone()], hashes.clone().map(Some));
    assert_eq!(tries[1].body_bytes, bodies[1].len() as u64);
    assert_eq!(evidence.hash, hex(&Sha256::digest(hashes.concat().as_bytes())));
    assert_eq!(evidence.bodies.len(), 2);
}

#[rstest]
#[case::in_json(format!(r#"{{"error":"no such key {SECRET}","list":["{SECRET}"],"card":"4242424242424242"}}"#))]
#[case::escaped(format!(r#"{{"error":"{}"}}"#, SECRET.replace('/', "\\/")))]
#[case::encoded(format!("<a href='?key={}'>", url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect::<String>()))]
#[case::in_markup(format!("<p>{SECRET}</p>"))]
#[case::broken_json(format!(r#"{{"error":"{SECRET}"#))]
#[tokio::test]
async fn a_secret_that_comes_back_is_in_no_record(#[case] body: String) {
    let location = format!("Location: /login?key={SECRET}\r\n");
    for act in [answer("200 OK", "", &body), answer("302 Found", &location, &body)] {
        let server = Scripted::start(vec![act]).await;
        let answered = provider(&server.base, "list").ask(&question()).await;
        let record = format!("{:?} {:?}", answered.evidence, answered.answer);
        for part in [SECRET, "sk_test_0123", "4242424242424242"] {
            assert!(!record.contains(part), "{record}");
        }
        assert!(answered.evidence.bodies[0].contains(MASK));
    }
}

#[tokio::test]
async fn named_fields_are_hidden_and_kept_answers_are_cut() {
    let preset = PRESET.replace("[limits]", "[limits]\nbodies_kept_bytes_max = 60");
    let body =
        format!(r#"{{"data":[],"more":false,"email":"ana@example.test","note":"{}"}}"#, "é".repeat(300));
    let server = Scripted::start(vec![answer("200 OK", "", &body)]).await;
    let question = Question { mask: ["e_mail".to_owned()].into(), ..question() };
    let evidence = provider_of(&preset, &settings(&server.base), "list").ask(&question).await.evidence;
    assert_eq!(evidence.bodies.len(), 1);
    assert!(evidence.bodies[0].len() <= 64, "{}", evidence.bodies[0]);
    assert!(evidence.bodies[0].ends_with('…'));
    assert!(!evidence.bodies[0].contains("ana@"));
}

#[tokio::test]
async fn secret_parameters_are_hidden_in_the_address() {
    let preset =
        PRESET.replace("query = { reference", "query = { access_token = \"tok_9988776655\", reference");
    let server = Scripted::start(vec![nothing()]).await;
    let evidence = provider_of(&preset, &settings(&server.base), "list").ask(&question()).await.evidence;
    assert!(
        evidence.asked[0].url.ends_with(&format!("?access_token={MASK}&reference=r-1")),
        "{}",
        evidence.asked[0].url
    );
}

#[rstest]
#[case::variable(Some(SecretPlace::Env("NOT_SET".to_owned())), "$NOT_SET")]
#[case::file(Some(SecretPlace::File("/nowhere/token".into())), "the file /nowhere/token")]
#[tokio::test]
async fn a_missing_secret_is_told_by_its_place_and_nothing_is_sent(
    #[case] place: Option<SecretPlace>,
    #[case] named: &str,
) {
    let server = Scripted::start(vec![nothing()]).await;
    let settings = ProviderSettings { secret: place, ..settings(&server.base) };
    let answered = provider_of(PRESET, &settings, "list").ask(&question()).await;
    let Answer::Fault(fault) = &answered.answer else { panic!("{answered:?}") };
    assert_eq!(fault.kind, FaultKind::Secret);
    assert!(fault.detail.contains(named), "{fault}");
    assert_eq!((server.requests().len(), answered.evidence.asked.len()), (0, 0));
}

#[tokio::test]
async fn a_secret_is_read_from_a_file_without_its_line_break() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "user:pass word\r\n").unwrap();
    let preset =
        PRESET.replace(r#"{ kind = "bearer" }"#, r#"{ kind = "basic", secret_is = "user_and_password" }"#);
    let server = Scripted::start(vec![nothing()]).await;
    let settings =
        ProviderSettings { secret: Some(SecretPlace::File(file.path().into())), ..settings(&server.base) };
    assert!(told(&provider_of(&preset, &settings, "list").ask(&question()).await.answer).is_ok());
    // user:pass word
    assert!(server.requests()[0].contains("Basic dXNlcjpwYXNzIHdvcmQ=\r\n"), "{}", server.requests()[0]);
}

#[rstest]
#[case::none(r#"{ kind = "none" }"#, None)]
#[case::user(
    r#"{ kind = "basic", secret_is = "user" }"#,
    Some("authorization: Basic c2tfdGVzdF8wMTIzL2FiYytkZWY6")
)]
#[case::password(
    r#"{ kind = "basic", secret_is = "password", user = "api" }"#,
    Some("authorization: Basic YXBpOnNrX3Rlc3RfMDEyMy9hYmMrZGVm")
)]
#[case::header(
    r#"{ kind = "header", header = "X-Key", prefix = "GenieKey " }"#,
    Some("x-key: GenieKey sk_test_0123/abc+def")
)]
#[tokio::test]
async fn every_kind_of_proof_is_sent_as_it_must_be(#[case] auth: &str, #[case] header: Option<&str>) {
    let preset = PRESET.replace(r#"{ kind = "bearer" }"#, auth);
    let server = Scripted::start(vec![nothing()]).await;
    provider_of(&preset, &settings(&server.base), "list").ask(&question()).await;
    let request = server.requests().remove(0);
    match header {
        Some(header) => assert!(request.contains(&format!("{header}\r\n")), "{request}"),
        None => assert!(!request.contains("authorization"), "{request}"),
    }
}

#[tokio::test]
async fn variables_and_headers_are_filled_in_and_must_be_given() {
    let preset = PRESET
        .replace("auth = ", "variables = { account = \"the account's number\" }\nheaders = { X-Account = \"{{ vars.account }}\" }\nauth = ")
        .replace("path = \"/v1/charges\"\nquery", "path = \"/v1/{{ vars.account }}/charges\"\nquery");
    let server = Scripted::start(vec![nothing()]).await;
    let mut settings = settings(&server.base);
    let checked = ProviderPreset::parse(&preset).unwrap();
    let message = Endpoint::build(&checked, &settings, environment()).unwrap_err();
    assert_eq!(
        message,
        "provider `test`: the configuration must say the variable `account` (the account's number)"
    );
    settings.variables.insert("account".to_owned(), "a/7".to_owned());
    provider_of(&preset, &settings, "list").ask(&question()).await;
    let request = server.requests().remove(0);
    assert!(request.starts_with("GET /v1/a%2F7/charges?"), "{request}");
    assert!(request.contains("x-account: a/7\r\n"));
}

#[tokio::test]
async fn an_operation_that_nobody_can_answer_is_not_asked() {
    let server = Scripted::start(vec![nothing()]).await;
    let answered = provider(&server.base, "silent").ask(&question()).await;
    assert_eq!(told(&answered.answer), Err(FaultKind::Unanswerable));
    assert_eq!((answered.evidence.asked.len(), server.requests().len()), (0, 0));
}

#[test]
fn the_configuration_overrides_clocks_and_bounds() {
    let mut settings = settings("http://127.0.0.1:1/base");
    settings.in_flight_max = Some(3);
    let own = OperationSettings {
        settle: Some(TimeDelta::minutes(9)),
        lookback: Some(Lookback::Unlimited),
        key_ttl: Some(TimeDelta::hours(2)),
        canary: None,
        pace_per_second: Some(0.5),
        in_flight_max: Some(1),
    };
    settings.operations.insert("list".to_owned(), own);
    let list = provider_of(PRESET, &settings, "list");
    let clocks = Clocks { settle: TimeDelta::minutes(9), lookback: None, key_ttl: Some(TimeDelta::hours(2)) };
    assert_eq!((list.facts().clocks, list.facts().in_flight_max), (clocks, 1));
    assert_eq!(list.facts().place, "http://127.0.0.1:1/base");
    let one = provider_of(PRESET, &settings, "one");
    assert_eq!((one.facts().clocks.key_ttl, one.facts().in_flight_max), (Some(TimeDelta::hours(1)), 3));
}

#[test]
fn an_unknown_operation_and_a_missing_secret_are_told_when_it_is_built() {
    let preset = ProviderPreset::parse(PRESET).unwrap();
    let settings = settings("http://127.0.0.1:1");
    let endpoint = Arc::new(Endpoint::build(&preset, &settings, environment()).unwrap());
    let clock = Arc::new(FixedClock);
    let message = HttpProvider::build("x", &preset, "refund", &settings, endpoint, clock).err().unwrap();
    assert_eq!(message, "provider `test` has no operation `refund`; it has list, one, silent, urls");
    let bare = ProviderSettings { secret: None, ..settings };
    let message = Endpoint::build(&preset, &bare, environment()).unwrap_err();
    assert_eq!(message, "provider `test`: it needs a secret, and the configuration names none");
}

#[tokio::test]
async fn checks_in_flight_are_bounded() {
    let server = Scripted::start(vec![Act::SayAndHang(Vec::new())]).await;
    let settings = ProviderSettings { in_flight_max: Some(1), ..settings(&server.base) };
    let provider = provider_of(&PRESET.replace("tries_max = 3", "tries_max = 1"), &settings, "list");
    let question = question();
    let (first, second) = (provider.ask(&question), provider.ask(&question));
    let both = tokio::time::timeout(Duration::from_millis(400), futures_util::future::join(first, second));
    assert!(both.await.is_err());
    assert_eq!(server.requests().len(), 1);
}
