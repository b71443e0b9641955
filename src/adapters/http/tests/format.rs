//! What presets may say for providers that answer otherwise than most.

use super::server::{Scripted, answer};
use super::*;
use pretty_assertions::assert_eq;
use rstest::rstest;

const AUTH: &str = "auth = { kind = \"none\" }\n";
const HEAD: &str = "type = \"provider\"\nname = \"test\"\ntitle = \"Test\"\npace_per_second = 1000\n";
const OPERATION: &str = r#"
[operations.list]
settle = "1m"
lookback = "30d"
effects = { list = "$.data", id = "$.id", reference = "$.ref", status = "$.status" }
statuses = { happened = ["succeeded"] }
"#;

/// What a preset with these lines reads from one answer.
async fn read(lines: &str, body: &str) -> Result<Vec<String>, FaultKind> {
    let server = Scripted::start(vec![answer("200 OK", "", body)]).await;
    let text = format!("{HEAD}{AUTH}{OPERATION}{lines}");
    told(&provider_of(&text, &settings(&server.base), "list").ask(&question()).await.answer)
}

const TWO: &str =
    r#"{"data":[{"id":"1","ref":"r-1","status":"succeeded"},{"id":"2","ref":"r-2","status":"x"}]}"#;

#[rstest]
#[case::room_left("3", Ok(vec!["1:succeeded".to_owned()]))]
#[case::just_full("2", Err(FaultKind::TooManyPages))]
#[case::over_full("1", Err(FaultKind::TooManyPages))]
#[tokio::test]
async fn a_list_that_may_have_been_cut_is_no_answer(
    #[case] items_max: &str,
    #[case] expected: Result<Vec<String>, FaultKind>,
) {
    let lines = format!("path = \"/x\"\npaging = {{ kind = \"none\", items_max = {items_max} }}\n");
    assert_eq!(read(&lines, TWO).await, expected);
}

#[rstest]
#[case::empty_object("{}", Ok(vec![]))]
#[case::empty_list(r#"{"data":[]}"#, Ok(vec![]))]
#[case::something_else(r#"{"cursor":"c"}"#, Err(FaultKind::Shape))]
#[case::an_error(r#"{"errors":[{"code":"X"}]}"#, Err(FaultKind::Shape))]
#[case::no_object("[]", Err(FaultKind::Shape))]
#[tokio::test]
async fn a_list_left_out_is_empty_only_in_an_answer_with_nothing_at_all(
    #[case] body: &str,
    #[case] expected: Result<Vec<String>, FaultKind>,
) {
    let server = Scripted::start(vec![answer("200 OK", "", body)]).await;
    let operation =
        OPERATION.replace("list = \"$.data\"", "list = \"$.data\", list_left_out_when_empty = true");
    let text = format!("{HEAD}{AUTH}{operation}path = \"/x\"\npaging = {{ kind = \"none\" }}\n");
    let answered = provider_of(&text, &settings(&server.base), "list").ask(&question()).await;
    assert_eq!(told(&answered.answer), expected);
    let strict = format!("{HEAD}{AUTH}{OPERATION}path = \"/x\"\npaging = {{ kind = \"none\" }}\n");
    let answered = provider_of(&strict, &settings(&server.base), "list").ask(&question()).await;
    let expected = if body == r#"{"data":[]}"# { Ok(vec![]) } else { Err(FaultKind::Shape) };
    assert_eq!(told(&answered.answer), expected);
}

/// Names that nobody's effect has may be misspelt: then what is ours would not be seen either.
#[rstest]
#[case::nobody_carries_one(
    r#"{"data":[{"id":"1","status":"x"},{"id":"2","ref":null,"status":"x"}]}"#,
    Err(FaultKind::Shape)
)]
#[case::somebody_does(r#"{"data":[{"id":"1","status":"x"},{"id":"2","ref":"r-9","status":"x"}]}"#, Ok(vec![]))]
#[case::nothing_at_all(r#"{"data":[]}"#, Ok(vec![]))]
#[tokio::test]
async fn an_answer_in_which_nobody_carries_a_reference_proves_no_absence(
    #[case] body: &str,
    #[case] expected: Result<Vec<String>, FaultKind>,
) {
    let server = Scripted::start(vec![answer("200 OK", "", body)]).await;
    let operation =
        OPERATION.replace("reference = \"$.ref\"", "reference = \"$.ref\", reference_may_be_missing = true");
    let text = format!("{HEAD}{AUTH}{operation}path = \"/x\"\npaging = {{ kind = \"none\" }}\n");
    let answered = provider_of(&text, &settings(&server.base), "list").ask(&question()).await;
    assert_eq!(told(&answered.answer), expected);
}

/// It is an hour off, and a check takes five seconds: asking again would be in vain.
#[rstest]
#[case::seconds_left("RateLimit-Reset: 3600", "429 Slow", 1)]
#[case::moment("X-RateLimit-Reset: 1796029200", "429 Slow", 1)]
#[case::forbidden("X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 1796029200", "403 Forbidden", 1)]
#[case::not_for_other_faults("X-RateLimit-Reset: 1796029200", "503 Oops", 3)]
#[tokio::test]
async fn an_allowance_that_comes_back_too_late_is_not_waited_for(
    #[case] headers: &str,
    #[case] status: &str,
    #[case] requests: usize,
) {
    let server = Scripted::start(vec![answer(status, &format!("{headers}\r\n"), "{}")]).await;
    let answered = provider(&server.base, "list").ask(&question()).await;
    assert!(told(&answered.answer).is_err());
    assert_eq!(server.requests().len(), requests);
}

#[tokio::test]
async fn a_404_for_the_providers_own_id_is_never_an_absence() {
    let body = r#"{"name":"RESOURCE_NOT_FOUND"}"#;
    let server = Scripted::start(vec![answer("404 Not Found", "", body)]).await;
    let operation = OPERATION.replace("list = \"$.data\"", "one = \"$\"");
    let text = format!(
        "{HEAD}{AUTH}{operation}path = \"/x/{{{{ reference }}}}\"\nabsence = \"never\"\npaging = {{ kind = \"none\" }}\n"
    );
    let answered = provider_of(&text, &settings(&server.base), "list").ask(&question()).await;
    assert_eq!(told(&answered.answer), Err(FaultKind::Refused));
}
