use super::server::{Act, Scripted, answer, answer_of_length, raw};
use super::*;
use crate::domain::evidence::FaultKind as F;
use pretty_assertions::assert_eq;
use rstest::rstest;
use tokio::net::TcpListener;

const NOTHING: &str = r#"{"data":[],"more":false}"#;
const OURS: &str = r#"{"data":[{"id":"ch_1","reference":"r-1","status":"succeeded"}],"more":false}"#;

fn good() -> Act {
    answer("200 OK", "Content-Type: text/html\r\n", OURS)
}

fn status(line: &str) -> Act {
    answer(line, "", r#"{"error":"x"}"#)
}

fn body(text: &str) -> Act {
    answer("200 OK", "", text)
}

/// One row: what the server does, request by request; what the check comes to; what each try came to.
#[rstest]
#[case::good(vec![good()], Ok("ch_1:succeeded"), &[(200, None)])]
#[case::nothing(vec![body(NOTHING)], Ok(""), &[(200, None)])]
#[case::moved(vec![answer("301 Moved", "Location: /v2\r\n", "")], Err(F::Redirect), &[(301, Some(F::Redirect))])]
#[case::bad_request(vec![status("400 Bad")], Err(F::Refused), &[(400, Some(F::Refused))])]
#[case::unauthorized(vec![status("401 No")], Err(F::Refused), &[(401, Some(F::Refused))])]
#[case::forbidden(vec![status("403 No")], Err(F::Refused), &[(403, Some(F::Refused))])]
#[case::no_such_list(vec![status("404 No")], Err(F::Refused), &[(404, Some(F::Refused))])]
#[case::conflict(vec![status("409 No")], Err(F::Refused), &[(409, Some(F::Refused))])]
#[case::accepted(vec![answer("202 Later", "", OURS)], Err(F::Shape), &[(202, Some(F::Shape))])]
#[case::no_content(vec![answer("204 Empty", "", "")], Err(F::Shape), &[(204, Some(F::Shape))])]
#[case::partial(vec![answer("206 Part", "", NOTHING)], Err(F::Shape), &[(206, Some(F::Shape))])]
#[case::failed_once(vec![status("500 Oops"), good()], Ok("ch_1:succeeded"), &[(500, Some(F::ServerError)), (200, None)])]
#[case::bad_gateway(vec![status("502 Oops")], Err(F::ServerError),
    &[(502, Some(F::ServerError)), (502, Some(F::ServerError)), (502, Some(F::ServerError))])]
#[case::empty_list_with_500(vec![answer("500 Oops", "", NOTHING)], Err(F::ServerError),
    &[(500, Some(F::ServerError)), (500, Some(F::ServerError)), (500, Some(F::ServerError))])]
#[case::closed_then_good(vec![Act::Close, good()], Ok("ch_1:succeeded"), &[(0, Some(F::CutOff)), (200, None)])]
#[case::closed(vec![Act::Close], Err(F::CutOff), &[(0, Some(F::CutOff)), (0, Some(F::CutOff)), (0, Some(F::CutOff))])]
#[case::cut_off(vec![answer_of_length(500, OURS)], Err(F::CutOff),
    &[(200, Some(F::CutOff)), (200, Some(F::CutOff)), (200, Some(F::CutOff))])]
#[case::cut_where_it_is_good_json(vec![answer_of_length(500, NOTHING)], Err(F::CutOff),
    &[(200, Some(F::CutOff)), (200, Some(F::CutOff)), (200, Some(F::CutOff))])]
#[case::length_too_small(vec![answer_of_length(20, OURS)], Err(F::Shape), &[(200, Some(F::Shape))])]
#[case::bad_chunks(vec![Act::Say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n".to_vec()), good()],
    Ok("ch_1:succeeded"), &[(200, Some(F::CutOff)), (200, None)])]
#[case::last_chunk_missing(
    vec![Act::Say(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{NOTHING}\r\n", NOTHING.len()).into_bytes()), good()],
    Ok("ch_1:succeeded"), &[(200, Some(F::CutOff)), (200, None)])]
#[case::not_http(vec![Act::Say(b"hello\r\n\r\n".to_vec())], Err(F::CutOff),
    &[(0, Some(F::CutOff)), (0, Some(F::CutOff)), (0, Some(F::CutOff))])]
#[case::announced_too_large(vec![Act::Say(raw("200 OK", "", 100_000, OURS))], Err(F::BodyTooLarge), &[(200, Some(F::BodyTooLarge))])]
#[case::endless(vec![Act::Endless(vec![b' '; 500])], Err(F::BodyTooLarge), &[(200, Some(F::BodyTooLarge))])]
#[case::invalid_json(vec![body("{\"data\":[")], Err(F::Shape), &[(200, Some(F::Shape))])]
#[case::empty(vec![body("")], Err(F::Shape), &[(200, Some(F::Shape))])]
#[case::html(vec![body("<html>Sign in</html>")], Err(F::Shape), &[(200, Some(F::Shape))])]
#[case::error_inside(vec![body(r#"{"error":"ratelimited","data":[],"more":false}"#)], Err(F::ErrorInAnswer), &[(200, Some(F::ErrorInAnswer))])]
#[case::unlisted_status(vec![body(r#"{"data":[{"id":"1","reference":"r-1","status":"odd"}],"more":false}"#)], Ok("1:odd"), &[(200, None)])]
#[case::no_reference(vec![body(r#"{"data":[{"id":"1","status":"succeeded"}],"more":false}"#)], Err(F::Shape), &[(200, Some(F::Shape))])]
#[case::foreign(vec![body(r#"{"data":[{"id":"1","reference":"r-2","status":"succeeded"}],"more":false}"#)], Ok(""), &[(200, None)])]
#[case::packed(vec![answer("200 OK", "Content-Encoding: gzip\r\n", NOTHING)], Err(F::Shape), &[(200, Some(F::Shape))])]
#[tokio::test]
async fn only_a_whole_good_answer_counts(
    #[case] acts: Vec<Act>,
    #[case] expected: Result<&str, F>,
    #[case] expected_tries: &[(u16, Option<F>)],
) {
    let server = Scripted::start(acts).await;
    let answered = provider(&server.base, "list").ask(&question()).await;
    let expected = expected.map(|ids| ids.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(told(&answered.answer), expected, "{:?}", answered.answer);
    let expected_tries: Vec<_> = expected_tries
        .iter()
        .map(|(status, fault)| (Some(*status).filter(|status| *status > 0), *fault))
        .collect();
    assert_eq!(tries(&answered), [expected_tries]);
    assert_eq!(
        server.requests().len(),
        answered.evidence.asked[0].tries.len(),
        "each request is a try in the evidence"
    );
}

#[tokio::test]
async fn a_refused_connection_is_tried_again_and_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let answered = provider(&base, "list").ask(&question()).await;
    assert_eq!(told(&answered.answer), Err(F::Connect));
    assert_eq!(tries(&answered), [[(None, Some(F::Connect)); 3]]);
    assert_eq!(answered.evidence.asked[0].tries[0].body_sha256, None);
}

#[tokio::test]
async fn a_plain_server_is_no_secure_one() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _gone = tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad\r\n\r\n").await;
            sleep(Duration::from_millis(300)).await;
        }
    });
    // Whether this machine has certificates or not, it is the secure connection that fails.
    let preset = PRESET
        .replace("request_seconds_max = 0.6", "request_seconds_max = 9")
        .replace("check_seconds_max = 5", "check_seconds_max = 30");
    let answered = provider_of(&preset, &settings(&base), "list").ask(&question()).await;
    assert_eq!(told(&answered.answer), Err(F::Tls), "{:?}", answered.answer);
}

#[rstest]
#[case::nothing_said(Vec::new())]
#[case::half_a_body(raw("200 OK", "", NOTHING.len() + 1, NOTHING))]
#[tokio::test]
async fn silence_is_a_time_out(#[case] said: Vec<u8>) {
    let server = Scripted::start(vec![Act::SayAndHang(said), good()]).await;
    let answered = provider(&server.base, "list").ask(&question()).await;
    assert_eq!(told(&answered.answer), Ok(vec!["ch_1:succeeded".to_owned()]), "the second try answers");
    assert_eq!(answered.evidence.asked[0].tries[0].fault, Some(F::Timeout));
}

#[tokio::test]
async fn the_whole_check_has_an_end() {
    let preset = PRESET.replace("check_seconds_max = 5", "check_seconds_max = 0.1");
    let server = Scripted::start(vec![Act::SayAndHang(Vec::new())]).await;
    let answered = provider_of(&preset, &settings(&server.base), "list").ask(&question()).await;
    assert_eq!(told(&answered.answer), Err(F::TookTooLong));
    assert_eq!(tries(&answered), [[(None, Some(F::TookTooLong))]]);
}

/// A provider that hangs holds up one check for so long as the configuration says, whatever the preset would bear.
#[tokio::test]
async fn the_configuration_says_how_long_a_check_may_take() {
    let preset = PRESET.replace("check_seconds_max = 5", "check_seconds_max = 300");
    let server = Scripted::start(vec![Act::SayAndHang(Vec::new())]).await;
    let settings = ProviderSettings { check_max: Some(Duration::from_millis(200)), ..settings(&server.base) };
    let provider = provider_of(&preset, &settings, "list");
    assert_eq!(provider.facts().check_max, Duration::from_millis(200));
    let began = std::time::Instant::now();
    let answered = provider.ask(&question()).await;
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let Answer::Fault(fault) = &answered.answer else { panic!("{answered:?}") };
    assert_eq!(fault.detail, "the check took longer than 0.2 s (check_seconds_max)");
}

/// Where nobody says otherwise, a hung provider is given up well within a minute: all tries of a request and their waits.
#[test]
fn all_tries_of_a_request_end_well_within_a_minute() {
    let limits = crate::preset::provider::Limits::default();
    let patience = limits.patience;
    let tries = (1..patience.tries_max)
        .map(|tries| limits.request_max + patience.next_try(tries, F::Timeout, None).unwrap_or_default());
    let hung = tries.sum::<Duration>() + limits.request_max;
    assert!(hung <= Duration::from_secs(35) && limits.check_max <= Duration::from_secs(30), "{hung:?}");
}

#[rstest]
#[case::seconds("Retry-After: 0.1\r\n")]
#[case::date("Retry-After: Mon, 30 Nov 2026 07:59:00 GMT\r\n")]
#[case::untold("")]
#[tokio::test]
async fn a_429_is_tried_again(#[case] header: &str) {
    let server = Scripted::start(vec![answer("429 Slow", header, "{}"), good()]).await;
    let answered = provider(&server.base, "list").ask(&question()).await;
    assert_eq!(told(&answered.answer), Ok(vec!["ch_1:succeeded".to_owned()]));
    assert_eq!(tries(&answered), [[(Some(429), Some(F::RateLimited)), (Some(200), None)]]);
    if header.contains("0.1") {
        assert!(answered.evidence.took_ms >= 100, "{}", answered.evidence.took_ms);
    }
}

#[tokio::test]
async fn a_429_for_ever_is_a_fault() {
    let server = Scripted::start(vec![answer("429 Slow", "Retry-After: 0\r\n", NOTHING)]).await;
    let answered = provider(&server.base, "list").ask(&question()).await;
    assert_eq!(told(&answered.answer), Err(F::RateLimited));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_pause_longer_than_the_check_is_not_waited_for_and_stops_the_others() {
    let server = Scripted::start(vec![answer("429 Slow", "Retry-After: 30\r\n", "{}")]).await;
    let provider = provider(&server.base, "list");
    let began = Instant::now();
    assert_eq!(told(&provider.ask(&question()).await.answer), Err(F::RateLimited));
    let other = provider.ask(&question()).await;
    assert_eq!(told(&other.answer), Err(F::RateLimited));
    assert_eq!(server.requests().len(), 1, "the other check sent nothing");
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[rstest]
#[case::own_404(answer("404 No", "", r#"{"error":"no_such_charge"}"#), Ok(vec![]))]
#[case::proxy_404(answer("404 No", "", "<html>nginx</html>"), Err(F::Refused))]
#[case::cut_404(Act::Say(raw("404 No", "", 500, r#"{"error":"no_such_charge"}"#)), Err(F::CutOff))]
#[case::there(answer("200 OK", "", r#"{"id":"1","reference":"r-1","status":"succeeded"}"#), Ok(vec!["1:succeeded".to_owned()]))]
#[case::another(answer("200 OK", "", r#"{"id":"1","reference":"r-9","status":"succeeded"}"#), Err(F::Shape))]
#[case::gone(answer("410 Gone", "", "{}"), Err(F::Refused))]
#[tokio::test]
async fn an_address_by_own_id_knows_absence(#[case] act: Act, #[case] expected: Result<Vec<String>, F>) {
    let server = Scripted::start(vec![act]).await;
    let answered = provider(&server.base, "one").ask(&question()).await;
    assert_eq!(told(&answered.answer), expected);
    assert!(server.requests()[0].starts_with("GET /v1/charges/r-1 HTTP/1.1\r\n"));
}

#[tokio::test]
async fn nothing_is_followed_to_another_host() {
    let trap = Scripted::start(vec![good()]).await;
    let location = format!("Location: {}/v1/charges\r\n", trap.base);
    for line in ["301 Moved", "302 Found", "307 Moved", "308 Moved"] {
        let server = Scripted::start(vec![answer(line, &location, "")]).await;
        let answered = provider(&server.base, "list").ask(&question()).await;
        assert_eq!(told(&answered.answer), Err(F::Redirect));
    }
    assert_eq!(trap.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn a_dropped_question_asks_no_further() {
    let server = Scripted::start(vec![answer("500 Oops", "", "{}")]).await;
    let mut preset = ProviderPreset::parse(PRESET).unwrap();
    preset.limits.patience.wait_first = Duration::from_millis(200);
    preset.limits.patience.tries_max = 2;
    let settings = ProviderSettings { in_flight_max: Some(1), ..settings(&server.base) };
    let endpoint = Arc::new(Endpoint::build(&preset, &settings, environment()).unwrap());
    let provider =
        HttpProvider::build("t", &preset, "list", &settings, endpoint, Arc::new(FixedClock)).unwrap();
    let question = question();
    let first_came = async {
        while server.requests().is_empty() {
            sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        biased;
        () = first_came => {}
        _ = provider.ask(&question) => panic!("it is still waiting for its second try"),
    }
    sleep(Duration::from_millis(300)).await;
    assert_eq!(server.requests().len(), 1);
    assert_eq!(told(&provider.ask(&question).await.answer), Err(F::ServerError), "its place is free again");
}
