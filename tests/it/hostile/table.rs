//! What a hostile provider says, case by case.

use super::acts::{EMPTY, deflate_bomb, filled_with, list, ok, ours, packed, redirect, status, two_answers};
use super::server::{Act, After, answer, says, says_and_waits, says_for_ever, tells};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// How a case ends, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// There was an answer and it was none.
    Misread,
    /// There was no answer.
    Unreachable,
    /// One or the other: a slow machine runs out of time before the answer runs out of room.
    Either,
}

/// One case.
pub struct Case {
    pub name: &'static str,
    pub operation: &'static str,
    pub ends: Ends,
    pub act: Act,
}

fn case(name: &'static str, ends: Ends, act: Act) -> Case {
    Case { name, operation: "list", ends, act }
}

/// Every case.
pub fn cases() -> Vec<Case> {
    use Ends::{Either, Misread, Unreachable};
    let gzip_head: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let slowly = Duration::from_millis(40);
    let at_once = Duration::ZERO;
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let deep = |open: &str, close: &str| {
        ok(format!(r#"{{"data":{}{},"has_more":false}}"#, open.repeat(100_000), close.repeat(100_000)))
    };
    let mut cases = vec![
        case("redirect to the same host", Misread, redirect("/v1/elsewhere")),
        case("redirect to itself for ever", Misread, redirect("/v1/charges")),
        case("redirect to another host", Misread, redirect("http://127.0.0.2:1/v1/charges")),
        case("redirect to a file", Misread, redirect("file:///etc/passwd")),
        case("redirect with terminal codes", Misread, redirect("/\u{9b}31m\u{202e}")),
        case(
            "stream for ever, fast",
            Either,
            says_for_ever("HTTP/1.1 200 OK\r\n\r\n{\"data\":[", "{},", at_once),
        ),
        case("stream for ever, slowly", Unreachable, says_for_ever("HTTP/1.1 200 OK\r\n\r\n", " ", slowly)),
        case("chunks for ever, fast", Either, says_for_ever(chunked, "5\r\n[[[[[\r\n", at_once)),
        case("chunks for ever, slowly", Unreachable, says_for_ever(chunked, "1\r\n \r\n", slowly)),
        case("header for ever, slowly", Unreachable, says_for_ever("HTTP/1.1 200 OK\r\nX: ", "x", slowly)),
        case("header for ever, fast", Unreachable, says_for_ever("HTTP/1.1 200 OK\r\nX: ", "x", at_once)),
        case("headers for ever", Unreachable, says_for_ever("HTTP/1.1 200 OK\r\n", "X: y\r\n", at_once)),
        case(
            "100 Continue for ever",
            Unreachable,
            says_for_ever("", "HTTP/1.1 100 Continue\r\n\r\n", slowly),
        ),
        case(
            "103 Early Hints for ever",
            Unreachable,
            says_for_ever("", "HTTP/1.1 103 Early\r\n\r\n", Duration::from_millis(1)),
        ),
        case("nothing at all", Unreachable, says_and_waits("")),
        case(
            "half an answer, then nothing",
            Unreachable,
            says_and_waits("HTTP/1.1 200 OK\r\nContent-Length: 28\r\n\r\n{\"data\":[]"),
        ),
        case("closed at once", Unreachable, says("")),
        case("closed within the head", Unreachable, says("HTTP/1.1 200 O")),
        case(
            "closed within the body",
            Unreachable,
            says(format!("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{EMPTY}")),
        ),
        case(
            "length too small",
            Misread,
            says(format!("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{EMPTY}")),
        ),
        case(
            "length of a petabyte",
            Misread,
            says(format!("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000\r\n\r\n{EMPTY}")),
        ),
        case(
            "two lengths",
            Unreachable,
            says(format!("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 28\r\n\r\n{EMPTY}")),
        ),
        case(
            "length that is none",
            Unreachable,
            says(format!("HTTP/1.1 200 OK\r\nContent-Length: -28\r\n\r\n{EMPTY}")),
        ),
        case("chunks of rubbish", Unreachable, says(format!("{chunked}zz\r\n{EMPTY}\r\n0\r\n\r\n"))),
        case("chunk larger than memory", Unreachable, says(format!("{chunked}fffffffffffffff0\r\n{EMPTY}"))),
        case("last chunk missing", Unreachable, says(format!("{chunked}1c\r\n{EMPTY}\r\n"))),
        case("two bodies in one", Misread, ok(format!("{EMPTY}{EMPTY}"))),
        case(
            "an error and an absence at once",
            Unreachable,
            two_answers(answer("500 Oops", "", "{}"), answer("200 OK", "", EMPTY)),
        ),
        case("gzip bomb", Either, packed("gzip", gzip_head)),
        case("deflate bomb", Either, packed("deflate", &[0x78, 0x01])),
        case("bomb that calls itself br", Either, packed("br", &[])),
        case(
            "bomb in a bomb",
            Misread,
            says(answer(
                "200 OK",
                "Content-Encoding: gzip, gzip\r\n",
                include_bytes!("../../fixtures/hostile/zeros.gz.gz"),
            )),
        ),
        case("bomb that does not say so", Either, ok([gzip_head, &deflate_bomb()].concat())),
        case(
            "ten thousand pages",
            Misread,
            list(
                |asked| format!(r#"{{"id":"x{}","reference":"other","status":"succeeded"}}"#, asked.nth),
                true,
            ),
        ),
        case(
            "the same page for ever",
            Misread,
            list(|_| r#"{"id":"x","reference":"other","status":"succeeded"}"#.to_owned(), true),
        ),
        case("empty pages for ever", Misread, list(|_| String::new(), true)),
        case("100,000 lists in each other", Either, deep("[", "]")),
        case("100,000 objects in each other", Either, deep(r#"{"a":"#, "1}")),
        case("100,000 lists left open", Misread, ok("[".repeat(100_000))),
        case(
            "amount of 10^999999999",
            Misread,
            ours(r#""id":"x","status":"succeeded","amount":1e999999999,"currency":"eur","created":1"#),
        ),
        case(
            "amount of a million digits",
            Either,
            ours(format!(
                r#""id":"x","status":"succeeded","amount":{},"currency":"eur","created":1"#,
                "9".repeat(1_000_000)
            )),
        ),
        case(
            "time of a million digits",
            Either,
            ours(format!(
                r#""id":"x","status":"odd","amount":1,"currency":"eur","created":{}"#,
                "9".repeat(1_000_000)
            )),
        ),
        case(
            "status of three megabytes",
            Either,
            ours(format!(
                r#""id":"x","status":"{}","amount":1,"currency":"eur","created":1800000000"#,
                "s".repeat(3_000_000)
            )),
        ),
        case(
            "ids of three megabytes",
            Either,
            ours(format!(
                r#""id":"{}","status":"odd","amount":1,"currency":"eur","created":1800000000"#,
                "i".repeat(3_000_000)
            )),
        ),
        case("name of three megabytes", Either, ok(format!(r#"{{"{}":1}}"#, "n".repeat(3_000_000)))),
        case("a million numbers", Either, filled_with("1")),
        case("a million empty lists", Either, filled_with("[]")),
        case("a million empty objects", Either, filled_with("{}")),
        case("half a million small objects", Either, filled_with(r#"{"a":1}"#)),
        case(
            "half a million names",
            Either,
            ok(format!(
                "{{{},\"data\":[],\"has_more\":false}}",
                (0..350_000).map(|n| format!("\"{n:x}\":1")).collect::<Vec<_>>().join(",")
            )),
        ),
        case(
            "30,000 effects of ours",
            Either,
            list(
                |asked| {
                    (0..30_000).map(|n| format!(r#"{{"id":"x{n}","reference":"{}","status":"odd","amount":1,"currency":"eur","created":1800000000}}"#, asked.query("reference"))).collect::<Vec<_>>().join(",")
                },
                false,
            ),
        ),
        case(
            "2,000 effects of ours",
            Either,
            list(
                |asked| {
                    (0..2_000).map(|n| format!(r#"{{"id":"x{n}","reference":"{}","status":"succeeded","amount":1,"currency":"eur","created":1800000000}}"#, asked.query("reference"))).collect::<Vec<_>>().join(",")
                },
                false,
            ),
        ),
        case("no JSON", Misread, ok("hello")),
        case("no text", Misread, ok([0xff, 0xfe, 0x00, 0x9b, 0x1b])),
        case("UTF-16", Misread, ok(EMPTY.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>())),
        case("nothing with a 200", Misread, ok("")),
        case("NUL bytes with a 200", Misread, ok([0; 1000])),
        case(
            "web page with a 200",
            Misread,
            says(answer("200 OK", "Content-Type: text/html\r\n", "<html>Sign in</html>")),
        ),
        case("one name twice", Misread, ok(r#"{"data":[{"id":"x"}],"data":[],"has_more":false}"#)),
        case("list that is null", Misread, ok(r#"{"data":null,"has_more":false}"#)),
        case("more that is a text", Misread, ok(r#"{"data":[],"has_more":"false"}"#)),
        case("error inside a 200", Misread, ok(r#"{"error":"ratelimited","data":[],"has_more":false}"#)),
        case("204", Misread, says("HTTP/1.1 204 No Content\r\n\r\n")),
        case("304", Misread, says("HTTP/1.1 304 Not Modified\r\n\r\n")),
        case("101", Misread, says("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")),
        case(
            "429 until the end of time",
            Unreachable,
            says(answer("429 Slow", "Retry-After: 99999999999999999999\r\n", EMPTY)),
        ),
        case("TLS on a plain port", Unreachable, says([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x28].repeat(50))),
        case(
            "HTTP/2 on a plain port",
            Unreachable,
            says([0, 0, 18, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 128].repeat(9)),
        ),
        case("no head, only a body", Unreachable, says(EMPTY)),
        Case {
            operation: "one",
            ..case(
                "another's answer at our address",
                Misread,
                ok(r#"{"id":"x","reference":"inv-99","status":"succeeded"}"#),
            )
        },
        Case {
            operation: "one",
            ..case(
                "another's absence at our address",
                Misread,
                says(answer("404 No", "", r#"{"error":"no_such_route"}"#)),
            )
        },
        Case { operation: "one", ..case("list at our address", Misread, ok("[]")) },
        Case {
            operation: "urls",
            ..case(
                "next page at another host",
                Misread,
                ok(
                    r#"{"data":[{"id":"x","reference":"o","status":"succeeded"}],"next":"http://127.0.0.2:1/v1/charges"}"#,
                ),
            )
        },
        Case {
            operation: "urls",
            ..case(
                "next page in a file",
                Misread,
                ok(
                    r#"{"data":[{"id":"x","reference":"o","status":"succeeded"}],"next":"file:///etc/passwd"}"#,
                ),
            )
        },
        Case {
            operation: "urls",
            ..case(
                "next page with a password",
                Misread,
                tells(|asked| {
                    let host = asked
                        .head
                        .lines()
                        .find_map(|line| line.strip_prefix("host: "))
                        .unwrap_or("127.0.0.1")
                        .to_owned();
                    answer(
                        "200 OK",
                        "",
                        format!(
                            r#"{{"data":[{{"id":"x","reference":"o","status":"succeeded"}}],"next":"http://a:b@{host}/"}}"#
                        ),
                    )
                }),
            )
        },
        case(
            "a megabyte of one header",
            Unreachable,
            says(answer("200 OK", &format!("X: {}\r\n", "x".repeat(1_000_000)), EMPTY)),
        ),
        case("5,000 headers", Unreachable, says(answer("200 OK", &"X: y\r\n".repeat(5_000), EMPTY))),
        case(
            "a body that ends when it likes",
            Misread,
            Arc::new(|stream, _| {
                stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n{\"data\":[],")?;
                Ok(After::Close)
            }),
        ),
    ];
    for (name, sign) in [
        ("error that calls itself one", r#""object":"error""#),
        ("error as a failed success", r#""success":false"#),
        ("error as a status", r#""status":"error""#),
        ("error among several", r#""errors":[{"m":1}]"#),
        ("error as a code", r#""message":"internal error","code":500"#),
        ("half an answer that says so", r#""partial":true,"timed_out":true"#),
        ("exception with a 200", r#""exception":"x""#),
    ] {
        cases.push(case(name, Misread, ok(format!(r#"{{{sign},"data":[],"has_more":false}}"#))));
    }
    for line in [
        "206 Partial",
        "202 Later",
        "300 Many",
        "400 Bad",
        "401 No",
        "403 No",
        "404 No",
        "410 Gone",
        "451 Law",
        "299 Odd",
        "600 Odd",
        "999 Odd",
    ] {
        cases.push(case(line, Misread, status(line)));
    }
    for line in ["408 Slow", "500 Oops", "503 Later"] {
        cases.push(case(line, Unreachable, status(line)));
    }
    cases
}
