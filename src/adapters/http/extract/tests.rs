use super::*;
use crate::adapters::http::paging::Next;
use crate::domain::evidence::EffectState;
use crate::preset::provider::{How, ProviderPreset};
use proptest::prelude::*;
use rstest::rstest;

fn ledger_charge() -> LookUp {
    let preset = ProviderPreset::parse(crate::preset::catalogue::built_in_text("ledger").unwrap()).unwrap();
    match &preset.operations["charge"].how {
        How::Ask(look) => (**look).clone(),
        How::Sql(_) => panic!("it is read by SQL"),
        How::Unanswerable(why) => panic!("{why}"),
    }
}

/// A list with the usual places, and whatever a test adds to them.
fn look(operation: &str, effects: &str, paging: &str) -> LookUp {
    let text = format!(
        r#"
        type = "provider"
        name = "test"
        title = "Test"
        auth = {{ kind = "none" }}
        [operations.op]
        settle = "1m"
        lookback = "unlimited"
        {operation}
        [operations.op.effects]
        id = "$.id"
        {effects}
        [operations.op.statuses]
        happened = ["done"]
        failed = ["false"]
        [operations.op.paging]
        {paging}
        "#
    );
    match ProviderPreset::parse(&text).unwrap().operations.remove("op").unwrap().how {
        How::Ask(look) => *look,
        How::Sql(_) => panic!("it is read by SQL"),
        How::Unanswerable(why) => panic!("{why}"),
    }
}

fn list(effects: &str) -> LookUp {
    look("path = \"/l\"", &format!("list = \"$.l\"\nstatus = \"$.s\"\n{effects}"), "kind = \"none\"")
}

fn ok(body: impl Into<Vec<u8>>) -> Reply {
    Reply { status: 200, headers: Vec::new(), body: body.into() }
}

fn read(look: &LookUp, body: &str) -> Result<Page, Fault> {
    read_page(look, "r-1", &Fields::new(), &ok(body))
}

const CHARGE: &str = r#"{"id":"ch_1","reference":"r-1","status":"succeeded","amount":1041,"currency":"brl","created":1790000000}"#;

fn page_of(charges: &[&str]) -> String {
    format!(r#"{{"object":"list","data":[{}],"has_more":false}}"#, charges.join(","))
}

#[test]
fn a_good_page_is_read_whole() {
    let page = read(&ledger_charge(), &page_of(&[CHARGE])).unwrap();
    let [effect] = &page.effects[..] else { panic!("{page:?}") };
    assert_eq!(effect.id, "ch_1");
    assert_eq!(effect.state, EffectState::Happened);
    assert_eq!(effect.money.as_ref().unwrap().to_string(), "10.41 BRL");
    assert_eq!(effect.at.unwrap().timestamp(), 1_790_000_000);
    assert_eq!(page.further, Further::NONE);
}

#[rstest]
#[case::byte_order_mark("\u{feff}{\"data\":[],\"has_more\":false}", Ok(0))]
#[case::spaces("  {\"data\":[],\"has_more\":false}\n", Ok(0))]
#[case::empty("", Err("the answer is empty"))]
#[case::blank(" \n", Err("the answer is empty"))]
#[case::null("null", Err("`$.data` is not in the answer"))]
#[case::bare_list("[]", Err("`$.data` is not in the answer"))]
#[case::html("<html><body>Sign in</body></html>", Err("it looks like a web page"))]
#[case::cut("{\"data\":[", Err("the answer is no JSON"))]
#[case::two_documents("{\"data\":[],\"has_more\":false}{}", Err("the answer is no JSON"))]
#[case::list_missing("{\"has_more\":false}", Err("`$.data` is not in the answer"))]
#[case::list_null("{\"data\":null,\"has_more\":false}", Err("`$.data` is no list"))]
#[case::list_object("{\"data\":{},\"has_more\":false}", Err("`$.data` is no list"))]
#[case::list_twice("{\"data\":[1],\"data\":[],\"has_more\":false}", Err("stands twice in one object"))]
#[case::more_missing("{\"data\":[]}", Err("does not say whether there is more"))]
#[case::more_text("{\"data\":[],\"has_more\":\"false\"}", Err("does not say whether there is more"))]
#[case::more_null("{\"data\":[],\"has_more\":null}", Err("does not say whether there is more"))]
#[case::item_text("{\"data\":[\"x\"],\"has_more\":false}", Err("an effect is no object"))]
fn a_body_is_a_list_or_a_fault(#[case] body: &str, #[case] expected: Result<usize, &str>) {
    // What an answer must say of itself is another table's.
    let look = LookUp { success: Vec::new(), ..ledger_charge() };
    match (read(&look, body), expected) {
        (Ok(page), Ok(count)) => assert_eq!(page.items, count),
        (Err(fault), Err(sentence)) => {
            assert_eq!(fault.kind, FaultKind::Shape);
            assert!(fault.detail.contains(sentence), "{fault}");
        }
        (got, _) => panic!("{got:?}"),
    }
}

#[rstest]
#[case::alone("{\"error\":{\"message\":\"no\"}}")]
#[case::beside_an_empty_list("{\"error\":{\"type\":\"api\"},\"data\":[],\"has_more\":false}")]
fn an_error_inside_a_200_is_never_an_absence(#[case] body: &str) {
    assert_eq!(read(&ledger_charge(), body).unwrap_err().kind, FaultKind::ErrorInAnswer);
}

#[rstest]
#[case::object(r#""object":"error""#, "`$.object` is `\"error\"`")]
#[case::object_error(r#""object":"api_error""#, "`$.object` is `\"api_error\"`")]
#[case::success(r#""success":false"#, "`$.success` is `false`")]
#[case::success_text(r#""Success":"False""#, "`$.Success` is `\"False\"`")]
#[case::ok(r#""ok":false"#, "`$.ok` is `false`")]
#[case::status(r#""status":"error""#, "`$.status` is `\"error\"`")]
#[case::status_false(r#""status":false"#, "`$.status` is `false`")]
#[case::status_number(r#""status":503"#, "`$.status` is `503`")]
#[case::state(r#""state":"TIMED_OUT""#, "`$.state` is `\"TIMED_OUT\"`")]
#[case::result(r#""result":"Failure""#, "`$.result` is `\"Failure\"`")]
#[case::kind(r#""type":"fault""#, "`$.type` is `\"fault\"`")]
#[case::error_true(r#""error":true"#, "`$.error` is `true`")]
#[case::errors(r#""errors":[{"m":1}]"#, "`$.errors` is `[{\"m\":1}]`")]
#[case::code(r#""message":"internal error","code":500"#, "`$.code` is `500`")]
#[case::code_text(r#""status_code":"429""#, "`$.status_code` is `\"429\"`")]
#[case::code_joined(r#""statusCode":400"#, "`$.statusCode` is `400`")]
#[case::http_status(r#""http_status":502"#, "`$.http_status` is `502`")]
#[case::partial(r#""partial":true,"timed_out":true"#, "is `true`")]
#[case::timed_out(r#""timed_out":true"#, "`$.timed_out` is `true`")]
#[case::timeout(r#""timeout":true"#, "`$.timeout` is `true`")]
#[case::truncated(r#""truncated":"true""#, "`$.truncated` is `\"true\"`")]
#[case::incomplete(r#""incomplete_results":true"#, "`$.incomplete_results` is `true`")]
#[case::fault(r#""fault":{"string":"x"}"#, "`$.fault` is `{\"string\":\"x\"}`")]
#[case::exception(r#""exception":"x""#, "`$.exception` is `\"x\"`")]
#[case::in_meta(r#""meta":{"code":500}"#, "`$.meta.code` is `500`")]
#[case::in_response(r#""response":{"status":"failed"}"#, "`$.response.status` is `\"failed\"`")]
#[case::in_result(r#""result":{"errors":["x"]}"#, "`$.result.errors` is `[\"x\"]`")]
#[case::in_status(r#""status":{"timed_out":true}"#, "`$.status.timed_out` is `true`")]
fn a_sign_of_an_error_beside_an_empty_list_is_never_an_absence(#[case] sign: &str, #[case] told: &str) {
    let look = LookUp { success: Vec::new(), ..ledger_charge() };
    let strangers = CHARGE.replace("r-1", "r-2");
    for list in ["", strangers.as_str()] {
        let fault = read(&look, &format!(r#"{{{sign},"data":[{list}],"has_more":false}}"#)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::ErrorInAnswer);
        assert!(fault.detail.contains(told), "{fault}");
    }
    // What is there is there.
    let ours = read(&look, &format!(r#"{{{sign},"data":[{CHARGE}],"has_more":false}}"#)).unwrap();
    assert_eq!(ours.effects.len(), 1);
}

#[rstest]
#[case::no_error(r#""error":null,"errors":[],"fault":{},"exception":"","failures":0,"errorMessage":" ""#)]
#[case::error_false(r#""error":false,"errors":"0""#)]
#[case::success(r#""success":true,"ok":1,"status":"ok","code":200,"statusCode":"200""#)]
#[case::zero(r#""status":0,"result":0,"code":0"#)]
#[case::words(r#""object":"list","type":"page","state":"complete","result":"success""#)]
#[case::whole(r#""partial":false,"timed_out":false,"timeout":30,"truncated":null"#)]
#[case::meta(r#""meta":{"code":200,"errors":[]},"response":"500","other":{"error":"x"}"#)]
fn a_good_answer_without_effects_is_an_absence(#[case] beside: &str) {
    let look = LookUp { success: Vec::new(), ..ledger_charge() };
    let page = read(&look, &format!(r#"{{{beside},"data":[],"has_more":false}}"#)).unwrap();
    assert_eq!((page.items, page.further), (0, Further::NONE));
}

#[test]
fn what_the_preset_judges_itself_is_no_sign() {
    let paged = look(
        "path = \"/l\"",
        "list = \"$.l\"\nstatus = \"$.s\"\nreference = \"$.r\"",
        "kind = \"last_id\"\nparameter = \"after\"\nmore = \"$.truncated\"",
    );
    let others = r#""l":[{"id":"x","r":"r-2","s":"done"}]"#;
    let page = read(&paged, &format!(r#"{{{others},"truncated":true}}"#)).unwrap();
    assert_eq!(page.further.next, Next::With("x".to_owned()));
    assert!(read(&paged, &format!(r#"{{{others},"truncated":true,"partial":true}}"#)).is_err());
    let judged = look(
        "path = \"/l\"\nsuccess = [{ path = \"$.error.code\", equals = \"ok\" }]",
        "list = \"$.l\"\nstatus = \"$.s\"\nreference = \"$.r\"",
        "kind = \"none\"",
    );
    assert_eq!(read(&judged, r#"{"error":{"code":"ok"},"l":[]}"#).unwrap().items, 0);
    assert!(read(&judged, r#"{"error":{"code":"no"},"l":[]}"#).is_err());
}

#[rstest]
#[case::no_object(r#"{"data":[],"has_more":false}"#)]
#[case::other_object(r#"{"object":"charge","data":[],"has_more":false}"#)]
fn the_ledger_answers_with_a_list_or_not_at_all(#[case] body: &str) {
    assert_eq!(read(&ledger_charge(), body).unwrap_err().kind, FaultKind::ErrorInAnswer);
}

#[rstest]
#[case::no_id(r#""id":"ch_1","#, "", "has no id")]
#[case::id_null(r#""ch_1""#, "null", "has no id")]
#[case::id_bool(r#""ch_1""#, "true", "is no text and no number")]
#[case::id_list(r#""ch_1""#, "[1]", "is no text and no number")]
#[case::id_empty(r#""ch_1""#, r#""""#, "is no text and no number")]
#[case::no_reference(r#""reference":"r-1","#, "", "carries no reference")]
#[case::reference_null(r#""r-1""#, "null", "carries no reference")]
#[case::reference_object(r#""r-1""#, "{}", "is no text")]
#[case::reference_case(r#""r-1""#, r#""R-1""#, "almost our reference")]
#[case::reference_space(r#""r-1""#, r#"" r-1""#, "almost our reference")]
#[case::no_status(r#""status":"succeeded","#, "", "no readable status")]
#[case::status_object(r#""succeeded""#, "{}", "no readable status")]
#[case::no_amount(r#""amount":1041,"#, "", "holds none")]
#[case::amount_text("1041", r#""ten""#, "is not an amount")]
#[case::amount_fraction("1041", "1041.5", "no whole number of the smallest unit")]
#[case::amount_long("1041", "1041000000000000000000000000000001", "too many digits")]
#[case::amount_huge("1041", "1e400", "the amount of effect ch_1")]
#[case::no_currency(r#""brl""#, "null", "its currency is missing")]
#[case::time_text("1790000000", r#""yesterday""#, "the time of effect ch_1")]
#[case::time_ms("1790000000", "1790000000000", "the time of effect ch_1")]
fn an_effect_that_is_not_as_described_is_a_fault(
    #[case] good: &str,
    #[case] bad: &str,
    #[case] sentence: &str,
) {
    let fault = read(&ledger_charge(), &page_of(&[&CHARGE.replacen(good, bad, 1)])).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Shape);
    assert!(fault.detail.contains(sentence), "{fault}");
}

#[test]
fn a_missing_time_is_none_and_an_unlisted_status_is_kept_as_such() {
    let odd = CHARGE.replace("1790000000", "null").replace("succeeded", "requires_review");
    let page = read(&ledger_charge(), &page_of(&[&odd])).unwrap();
    assert_eq!((page.effects[0].at, page.effects[0].state), (None, EffectState::Unlisted));
    assert_eq!(page.effects[0].status, "requires_review");
}

#[test]
fn what_is_not_ours_needs_only_an_id_and_a_reference() {
    let foreign = r#"{"id":9007199254740993123,"reference":"r-10","status":7,"amount":"?"}"#;
    let page = read(&ledger_charge(), &page_of(&[foreign, CHARGE])).unwrap();
    assert_eq!(page.effects.len(), 1);
    assert_eq!(page.ids, ["9007199254740993123", "ch_1"]);
}

#[test]
fn a_reference_that_may_be_missing_is_then_not_ours() {
    let look = list("reference = \"$.r\"\nreference_may_be_missing = true");
    let page = read(&look, r#"{"l":[{"id":1},{"id":2,"r":"r-1","s":"done"},{"id":3,"r":null}]}"#).unwrap();
    assert_eq!(page.effects.iter().map(|effect| effect.id.as_str()).collect::<Vec<_>>(), ["2"]);
}

#[test]
fn several_references_are_as_many_and_a_number_is_its_text() {
    let look = list("reference = \"$.labels[*]\"");
    let body = r#"{"l":[{"id":"a","labels":["x","r-1"],"s":"done"},{"id":"b","labels":[7]}]}"#;
    assert_eq!(read(&look, body).unwrap().effects.len(), 1);
    assert_eq!(
        read_page(&look, "7", &Fields::new(), &ok(r#"{"l":[{"id":"b","labels":[7],"s":false}]}"#))
            .unwrap()
            .effects[0]
            .state,
        EffectState::Failed
    );
}

#[test]
fn effects_within_items_are_counted_each_by_its_own_id() {
    let effects = "list = \"$.orders\"\neach = \"$.charges[*]\"\nreference = \"$.code\"\nreference_in_item = true\nstatus = \"$.s\"";
    let look = look("path = \"/o\"", effects, "kind = \"none\"");
    let body = r#"{"orders":[{"code":"r-1","charges":[{"id":1,"s":"done"},{"id":2,"s":"open"}]},{"code":"x","charges":[{"id":3}]},{"code":"r-1","charges":[]}]}"#;
    let page = read(&look, body).unwrap();
    assert_eq!((page.effects.len(), page.items, page.ids.len()), (2, 3, 3));
    assert_eq!(page.effects[1].state, EffectState::Unlisted);
}

#[rstest]
#[case::good(r#"{"ok":true,"l":[]}"#, None)]
#[case::not_ok(r#"{"ok":false,"error":"ratelimited","l":[]}"#, Some("`$.ok` is `false`"))]
#[case::missing(r#"{"l":[]}"#, Some("`$.ok` is not there"))]
#[case::with_error(r#"{"ok":true,"error":"x","l":[]}"#, Some("`$.error` is"))]
fn an_error_inside_a_200_is_an_error(#[case] body: &str, #[case] sentence: Option<&str>) {
    let success = r#"success = [{ path = "$.ok", equals = true }, { path = "$.error", exists = false }]"#;
    let look = look(
        &format!("path = \"/l\"\n{success}"),
        "list = \"$.l\"\nstatus = \"$.s\"\nreference = \"$.r\"",
        "kind = \"none\"",
    );
    match (read(&look, body), sentence) {
        (Ok(_), None) => {}
        (Err(fault), Some(sentence)) => {
            assert_eq!(fault.kind, FaultKind::ErrorInAnswer);
            assert!(fault.detail.contains(sentence), "{fault}");
        }
        (got, _) => panic!("{got:?}"),
    }
}

fn by_id() -> LookUp {
    look(
        "path = \"/o/{{ reference }}\"\nabsence = \"status_404\"\nabsence_when = [{ path = \"$.type\", equals = \"NotFound\" }]",
        "one = \"$\"\nreference_in_address = true\nstatus = \"$.s\"",
        "kind = \"none\"",
    )
}

#[rstest]
#[case::own("{\"type\":\"NotFound\"}", None)]
#[case::other("{\"type\":\"NoRoute\"}", Some(FaultKind::Refused))]
#[case::proxy("<h1>404 Not Found</h1>", Some(FaultKind::Refused))]
#[case::empty("", Some(FaultKind::Refused))]
fn only_the_providers_own_404_is_an_absence(#[case] body: &str, #[case] kind: Option<FaultKind>) {
    let reply = Reply { status: 404, ..ok(body) };
    assert_eq!(status_fault(&by_id(), &reply, true), None);
    let read = read_page(&by_id(), "r-1", &Fields::new(), &reply);
    match kind {
        None => assert_eq!(read.unwrap().effects, []),
        Some(kind) => assert_eq!(read.unwrap_err().kind, kind),
    }
}

#[test]
fn what_is_found_at_our_own_address_is_ours() {
    assert_eq!(read(&by_id(), r#"{"id":"t","s":"done"}"#).unwrap().effects.len(), 1);
    assert_eq!(read(&by_id(), r#"[{"id":"t","s":"done"}]"#).unwrap_err().kind, FaultKind::Shape);
}

#[test]
fn a_head_is_read_from_its_headers() {
    let look = look(
        "method = \"HEAD\"\npath = \"/b/{{ reference }}\"\nabsence = \"status_404\"",
        "one = \"$\"\nreference_in_address = true\nstatus_fixed = \"done\"\ntime = \"$.headers['last-modified']\"\ntime_format = \"rfc2822\"",
        "kind = \"none\"",
    );
    let look = LookUp {
        effects: EffectsPlace { id: Place::parse("$.headers.etag").unwrap(), ..look.effects.clone() },
        ..look
    };
    let headers = [("etag", "\"abc\""), ("last-modified", "Mon, 30 Nov 2026 08:00:00 GMT")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let page =
        read_page(&look, "r-1", &Fields::new(), &Reply { status: 200, headers, body: Vec::new() }).unwrap();
    assert_eq!(page.effects[0].id, "\"abc\"");
    assert_eq!(page.effects[0].state, EffectState::Happened);
    assert!(page.effects[0].at.is_some());
}

#[rstest]
#[case(200, None)]
#[case(201, Some(FaultKind::Shape))]
#[case(202, Some(FaultKind::Shape))]
#[case(204, Some(FaultKind::Shape))]
#[case(206, Some(FaultKind::Shape))]
#[case(301, Some(FaultKind::Redirect))]
#[case(304, Some(FaultKind::Redirect))]
#[case(400, Some(FaultKind::Refused))]
#[case(404, Some(FaultKind::Refused))]
#[case(408, Some(FaultKind::Timeout))]
#[case(409, Some(FaultKind::Refused))]
#[case(410, Some(FaultKind::Refused))]
#[case(429, Some(FaultKind::RateLimited))]
#[case(500, Some(FaultKind::ServerError))]
#[case(599, Some(FaultKind::ServerError))]
#[case(700, Some(FaultKind::Shape))]
fn only_a_200_is_an_answer_to_a_list(#[case] status: u16, #[case] kind: Option<FaultKind>) {
    let reply = Reply { status, ..ok("{}") };
    assert_eq!(status_fault(&ledger_charge(), &reply, true).map(|fault| fault.kind), kind);
}

#[test]
fn a_404_on_a_later_page_is_no_absence() {
    let reply = Reply { status: 404, ..ok("{\"type\":\"NotFound\"}") };
    assert_eq!(status_fault(&by_id(), &reply, false).unwrap().kind, FaultKind::Refused);
}

#[test]
fn a_403_that_names_a_time_is_a_limit() {
    let reply =
        Reply { status: 403, headers: vec![("retry-after".to_owned(), "5".to_owned())], body: Vec::new() };
    assert_eq!(status_fault(&ledger_charge(), &reply, true).unwrap().kind, FaultKind::RateLimited);
}

#[rstest]
#[case::lists(b'[')]
#[case::objects(b'{')]
fn deep_json_is_a_fault_and_no_crash(#[case] opening: u8) {
    let piece: &[u8] = if opening == b'[' { b"[" } else { b"{\"a\":" };
    let fault = read_page(&ledger_charge(), "r-1", &Fields::new(), &ok(piece.repeat(200_000))).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Shape);
    assert!(fault.detail.contains("recursion limit"), "{fault}");
}

#[test]
fn bad_utf8_and_packed_answers_are_faults() {
    let bad = ok(&b"{\"data\":[{\"id\":\"\xff\"}],\"has_more\":false}"[..]);
    assert_eq!(read_page(&ledger_charge(), "r-1", &Fields::new(), &bad).unwrap_err().kind, FaultKind::Shape);
    let mut packed = ok(page_of(&[]));
    packed.headers.push(("content-encoding".to_owned(), "gzip".to_owned()));
    assert!(
        read_page(&ledger_charge(), "r-1", &Fields::new(), &packed).unwrap_err().detail.contains("packed")
    );
}

#[rstest]
#[case::last_id("kind = \"last_id\"\nparameter = \"after\"\nmore = \"$.more\"", r#""more":true"#, Ok(Next::With("2".to_owned())))]
#[case::last_id_end(
    "kind = \"last_id\"\nparameter = \"after\"\nmore = \"$.more\"",
    r#""more":false"#,
    Ok(Next::End)
)]
#[case::token("kind = \"token\"\nparameter = \"c\"\nnext = \"$.n\"", r#""n":"abc""#, Ok(Next::With("abc".to_owned())))]
#[case::token_end("kind = \"token\"\nparameter = \"c\"\nnext = \"$.n\"", r#""n":"""#, Ok(Next::End))]
#[case::token_null("kind = \"token\"\nparameter = \"c\"\nnext = \"$.n\"", r#""n":null"#, Ok(Next::End))]
#[case::token_missing(
    "kind = \"token\"\nparameter = \"c\"\nnext = \"$.n\"",
    r#""x":1"#,
    Err("the last page cannot be known")
)]
#[case::token_may_be_missing(
    "kind = \"token\"\nparameter = \"c\"\nnext = \"$.n\"\nnext_may_be_missing = true",
    r#""x":1"#,
    Ok(Next::End)
)]
#[case::token_object("kind = \"token\"\nparameter = \"c\"\nnext = \"$.n\"", r#""n":{}"#, Err("is no text"))]
#[case::token_and_more(
    "kind = \"token\"\nparameter = \"c\"\nnext = \"$.n\"\nmore = \"$.more\"",
    r#""n":null,"more":true"#,
    Err("there is more, and not where")
)]
#[case::always_a_url("kind = \"next_url\"\nnext = \"$.n\"\nuntil_empty = true", r#""n":"/p2""#, Ok(Next::Url("/p2".to_owned())))]
#[case::counted(
    "kind = \"page\"\nparameter = \"p\"\nfirst = 0\ntotal = \"$.t\"",
    r#""t":9"#,
    Ok(Next::Counted)
)]
#[case::count_text(
    "kind = \"page\"\nparameter = \"p\"\nfirst = 0\ntotal = \"$.t\"",
    r#""t":"many""#,
    Err("is no count")
)]
#[case::count_missing(
    "kind = \"offset\"\nparameter = \"p\"\npages = \"$.t\"",
    r#""x":1"#,
    Err("is no count")
)]
#[case::single_more("kind = \"none\"\nmore = \"$.more\"", r#""more":true"#, Err("more than the one page"))]
fn every_kind_of_paging_says_what_follows(
    #[case] paging: &str,
    #[case] body: &str,
    #[case] expected: Result<Next, &str>,
) {
    let look = look("path = \"/l\"", "list = \"$.l\"\nstatus = \"$.s\"\nreference = \"$.r\"", paging);
    let read = read(&look, &format!(r#"{{"l":[{{"id":1,"r":"x"}},{{"id":2,"r":"x"}}],{body}}}"#));
    match (read, expected) {
        (Ok(page), Ok(next)) => assert_eq!(page.further.next, next),
        (Err(fault), Err(sentence)) => assert!(fault.detail.contains(sentence), "{fault}"),
        (got, _) => panic!("{got:?}"),
    }
}

#[rstest]
#[case::next(&["<https://x.test/l?page=2>; rel=\"next\", <https://x.test/l?page=9>; rel=\"last\""], Ok(Some("https://x.test/l?page=2")))]
#[case::second(&["</l?page=1>; rel=\"prev\"; title=\"a, b\", </l?page=3>; rel=next"], Ok(Some("/l?page=3")))]
#[case::two_headers(&["</a>; rel=prev", "</b>; rel=\"next last\""], Ok(Some("/b")))]
#[case::none(&["</a>; rel=last"], Ok(None))]
#[case::no_header(&[], Ok(None))]
#[case::broken(&["a; rel=next"], Err(()))]
fn the_link_header_is_read(#[case] values: &[&str], #[case] expected: Result<Option<&str>, ()>) {
    let look = look(
        "path = \"/l\"",
        "list = \"$.l\"\nstatus = \"$.s\"\nreference = \"$.r\"",
        "kind = \"link_header\"\npage_items = 9",
    );
    let headers = values.iter().map(|value| ("link".to_owned(), (*value).to_owned())).collect();
    let reply = Reply { status: 200, headers, body: b"{\"l\":[]}".to_vec() };
    let next = read_page(&look, "r-1", &Fields::new(), &reply).map(|page| page.further.next).map_err(|_| ());
    assert_eq!(next, expected.map(|url| url.map_or(Next::End, |url| Next::Url(url.to_owned()))));
}

/// Whether a text stands somewhere in a JSON value as a text or a number.
fn stands_in(value: &Value, text: &str) -> bool {
    match value {
        Value::Array(values) => values.iter().any(|inner| stands_in(inner, text)),
        Value::Object(fields) => fields.values().any(|inner| stands_in(inner, text)),
        other => fields::plain_text(other).as_deref() == Some(text),
    }
}

fn never_more_than_the_body_says(body: &[u8]) -> Result<(), TestCaseError> {
    let Ok(page) = read_page(&ledger_charge(), "r-1", &Fields::new(), &ok(body)) else { return Ok(()) };
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let document: Value = serde_json::from_slice(body).unwrap();
    prop_assert!(document.get("data").is_some_and(Value::is_array));
    for effect in &page.effects {
        prop_assert!(stands_in(&document, &effect.id), "{} is not in the body", effect.id);
        prop_assert!(stands_in(&document, "r-1"));
        prop_assert!(stands_in(&document, &effect.status));
    }
    Ok(())
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop_oneof![Just("r-1".to_owned()), Just("succeeded".to_owned()), Just("brl".to_owned()), ".{0,6}"]
            .prop_map(Value::from),
    ];
    let name = prop::sample::select(vec![
        "data",
        "has_more",
        "id",
        "reference",
        "status",
        "amount",
        "currency",
        "created",
        "error",
    ]);
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(name.clone(), inner, 0..8).prop_map(|fields| fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect::<Value>()),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_never_become_an_effect_that_is_not_in_them(body in prop::collection::vec(any::<u8>(), 0..400)) {
        never_more_than_the_body_says(&body)?;
    }

    #[test]
    fn any_json_never_becomes_an_effect_that_is_not_in_it(document in any_json()) {
        never_more_than_the_body_says(document.to_string().as_bytes())?;
    }

    #[test]
    fn a_good_page_with_bytes_changed_never_says_more_than_it_holds(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        keep_whole in any::<bool>(),
    ) {
        let mut body = page_of(&[CHARGE, &CHARGE.replace("ch_1", "ch_2")]).into_bytes();
        for (at, byte) in changes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        if !keep_whole {
            body.truncate(cut.index(body.len()));
        }
        never_more_than_the_body_says(&body)?;
    }
}
