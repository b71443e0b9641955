//! The same failures in tracebacks, JSON, lists and pages; and texts no one foresaw.

use proptest::prelude::*;
use rstest::rstest;
use std::sync::LazyLock;
use unstuck::domain::error_class::{ErrorClass, ErrorTable, ErrorTableFault};

const BEFORE: ErrorClass = ErrorClass::BeforeEffect;
const AMBIGUOUS: ErrorClass = ErrorClass::Ambiguous;
const REFUSED: ErrorClass = ErrorClass::Refused;

static TABLE: LazyLock<ErrorTable> =
    LazyLock::new(|| ErrorTable::parse(include_str!("../../assets/errors.toml")).unwrap());

const PY_REFUSED: &str = r#"Traceback (most recent call last):
  File "/app/.venv/lib/python3.12/site-packages/urllib3/connection.py", line 404, in _new_conn
    sock = connection.create_connection(
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
ConnectionRefusedError: [Errno 111] Connection refused

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/.venv/lib/python3.12/site-packages/urllib3/connectionpool.py", line 503, in urlopen
    raise ReadTimeoutError(self, url, "Read timed out.")
urllib3.exceptions.NewConnectionError: <urllib3.connection.HTTPSConnection object>: Failed to establish a new connection: [Errno 111] Connection refused

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/jobs/charge.py", line 42, in run
    requests.post(url)
requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.example.com', port=443): Max retries exceeded with url: / (Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object>: Failed to establish a new connection: [Errno 111] Connection refused'))
"#;

const PY_CONNECT_TIMEOUT: &str = r#"Traceback (most recent call last):
  File "/a/httpcore/_exceptions.py", line 10, in map_exceptions
    yield
TimeoutError: timed out

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/a/httpx/_transports/default.py", line 101, in map_httpcore_exceptions
    yield
httpcore.ConnectTimeout: timed out

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/jobs.py", line 401, in charge
    client.post(url, timeout=5)
httpx.ConnectTimeout: timed out
"#;

const PY_READ_AFTER_REFUSED: &str = r#"Traceback (most recent call last):
  File "/app/cache.py", line 1, in get
    connect()
ConnectionRefusedError: [Errno 111] Connection refused

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/jobs.py", line 9, in charge
    post()
TimeoutError
"#;

const PY_APP_ERROR_WHILE_HANDLING: &str = r#"Traceback (most recent call last):
  File "/app/cache.py", line 1, in get
    connect()
ConnectionRefusedError: [Errno 111] Connection refused

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/jobs.py", line 9, in charge
    post()
app.BillingError: charge did not finish
"#;

const PY_APP_ERROR_FROM_CAUSE: &str = r#"Traceback (most recent call last):
  File "/app/cache.py", line 1, in get
    connect()
ConnectionRefusedError: [Errno 111] Connection refused

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/jobs.py", line 9, in charge
    post()
app.BillingError: provider not reached
"#;

const JAVA_REFUSED: &str = "org.springframework.web.client.ResourceAccessException: I/O error on POST request\n\tat org.springframework.web.client.RestTemplate.doExecute(RestTemplate.java:785)\n\tat com.example.ReadTimeoutHandler.run(ReadTimeoutHandler.java:503)\nCaused by: java.net.ConnectException: Connection refused\n\tat java.base/sun.nio.ch.Net.pollConnect(Native Method)\n\t... 12 more\n";
const JAVA_READ: &str = "com.example.ChargeFailed: could not connect to the endpoint URL\n\tat com.example.Charge.run(Charge.java:12)\nCaused by: java.net.SocketTimeoutException: Read timed out\n\tat java.base/sun.nio.ch.NioSocketImpl.timedRead(NioSocketImpl.java:288)\n\t... 3 more\n";
const JAVA_HANDSHAKE: &str = "javax.net.ssl.SSLHandshakeException: Remote host terminated the handshake\n\tat sun.security.ssl.SSLSocketImpl.handleEOF(SSLSocketImpl.java:1701)\nCaused by: java.io.EOFException: SSL peer shut down incorrectly\n\t... 20 more\n";
const RUBY_READ: &str = "Net::ReadTimeout: Net::ReadTimeout with #<TCPSocket:(closed)>\n/usr/lib/ruby/3.3.0/net/protocol.rb:229:in `rbuf_fill'\n/usr/lib/ruby/3.3.0/net/http.rb:404:in `connect'\n";
const RUBY_OPEN: &str = "Net::OpenTimeout: execution expired\n/usr/lib/ruby/3.3.0/net/http.rb:1603:in `initialize'\n/usr/lib/ruby/3.3.0/timeout.rb:186:in `rescue in timeout'\n";
const NODE_REFUSED: &str = "TypeError: fetch failed\n    at node:internal/deps/undici/undici:12345:11\n    at async charge (/app/timeout.js:12:3) {\n  [cause]: Error: connect ECONNREFUSED 203.0.113.7:443\n      at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1555:16) {\n    errno: -111,\n    code: 'ECONNREFUSED',\n    syscall: 'connect'\n  }\n}";
const DOTNET: &str = "System.Net.Http.HttpRequestException: An error occurred while sending the request.\n ---> System.IO.IOException: Unable to read data from the transport connection: Connection reset by peer.\n   at System.Net.Sockets.Socket.AwaitableSocketAsyncEventArgs.ThrowException(SocketError error)\n   --- End of inner exception stack trace ---";
const PHP: &str = "GuzzleHttp\\Exception\\ConnectException: cURL error 28: Operation timed out after 30001 milliseconds with 0 bytes received in /app/vendor/guzzlehttp/guzzle/src/Handler/CurlFactory.php:210\nStack trace:\n#0 /app/vendor/guzzlehttp/CurlFactory.php(158): createRejection()\n#1 {main}";
const GRPC_PY: &str = "Traceback (most recent call last):\n  File \"/app/x.py\", line 3, in f\n    stub.Charge()\ngrpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.DEADLINE_EXCEEDED\n\tdetails = \"Deadline Exceeded\"\n>";

#[rstest]
#[case::python_chain_refused(PY_REFUSED, BEFORE)]
#[case::python_chain_connect_timeout(PY_CONNECT_TIMEOUT, BEFORE)]
#[case::python_last_line_decides(PY_READ_AFTER_REFUSED, AMBIGUOUS)]
#[case::python_unrelated_cause_proves_nothing(PY_APP_ERROR_WHILE_HANDLING, AMBIGUOUS)]
#[case::python_direct_cause_proves(PY_APP_ERROR_FROM_CAUSE, BEFORE)]
#[case::python_grpc(GRPC_PY, AMBIGUOUS)]
#[case::java_deepest_cause(JAVA_REFUSED, BEFORE)]
#[case::java_deepest_cause_read(JAVA_READ, AMBIGUOUS)]
#[case::java_handshake(JAVA_HANDSHAKE, BEFORE)]
#[case::ruby_read(RUBY_READ, AMBIGUOUS)]
#[case::ruby_open(RUBY_OPEN, BEFORE)]
#[case::node_cause(NODE_REFUSED, BEFORE)]
#[case::dotnet_inner(DOTNET, AMBIGUOUS)]
#[case::php_trace(PHP, AMBIGUOUS)]
fn tracebacks(#[case] text: &str, #[case] class: ErrorClass) {
    let got = TABLE.classify(Some(text));
    assert_eq!(got.class, class, "{got:?}");
}

#[rstest]
#[case(r#"{"message":"connect ECONNREFUSED 203.0.113.7:443"}"#, BEFORE)]
#[case(r#"{"error":"Read timed out","code":404}"#, AMBIGUOUS)]
#[case(r#"{"code":404,"order":401}"#, AMBIGUOUS)]
#[case(r#"{"status":404,"detail":"no such thing"}"#, BEFORE)]
#[case(r#"{"statusCode":503,"message":"Forbidden"}"#, AMBIGUOUS)]
#[case(r#"{"exception_class":"Net::OpenTimeout","message":"execution expired","backtrace":["a.rb:1:in `read_timeout'"]}"#, BEFORE)]
#[case(r#"{"exception_class":"Net::ReadTimeout","message":"Net::ReadTimeout","backtrace":[]}"#, AMBIGUOUS)]
#[case(r#"{"exc_type":"WorkerLostError","exc_message":["Worker exited prematurely: signal 9 (SIGKILL) Job: 3."],"exc_module":"billiard.exceptions"}"#, AMBIGUOUS)]
#[case(r#"{"exc_type":"ConnectTimeout","exc_message":["timed out"],"exc_module":"httpx"}"#, BEFORE)]
#[case(
    r#"{"error":{"type":"card_error","code":"card_declined","message":"Your card was declined."}}"#,
    REFUSED
)]
#[case(
    r#"{"response":{"status":402,"data":{"error":{"code":"expired_card"}}},"config":{"timeout":1000}}"#,
    REFUSED
)]
#[case(
    r#"{"message":"fetch failed","cause":{"code":"ECONNREFUSED","message":"connect ECONNREFUSED ::1:443"}}"#,
    BEFORE
)]
#[case(
    r#"{"message":"fetch failed","cause":{"code":"UND_ERR_SOCKET","message":"other side closed"}}"#,
    AMBIGUOUS
)]
#[case(r#"{"message":"connect ETIMEDOUT 203.0.113.7:443","code":"ETIMEDOUT","syscall":"connect"}"#, BEFORE)]
#[case(r#"{"code":"ETIMEDOUT","connect":true}"#, BEFORE)]
#[case(r#"{"code":"ETIMEDOUT","connect":false}"#, AMBIGUOUS)]
#[case(r#""{\"error\":\"{\\\"message\\\":\\\"Connection refused\\\"}\"}""#, BEFORE)]
#[case(r#"{"error":"{\"message\":\"Read timed out\"}"}"#, AMBIGUOUS)]
#[case(r#"{"value":{"message":"Request failed with status code 422"}}"#, BEFORE)]
#[case(r#"["Read timed out","Connection refused"]"#, BEFORE)]
#[case(r#"["Connection refused","Read timed out"]"#, AMBIGUOUS)]
#[case(r#"["Connection refused",null]"#, AMBIGUOUS)]
#[case(
    r#"{"errors":[{"attempt":1,"error":"Connection refused"},{"attempt":2,"error":"socket hang up"}]}"#,
    AMBIGUOUS
)]
#[case(r#"{"errors":[{"code":"GENERIC_DECLINE"},{"code":"CVV_FAILURE"}]}"#, REFUSED)]
#[case(
    r#"{"{\"attempt\":1,\"error\":\"timeout\"}","{\"attempt\":2,\"error\":\"connection refused\"}"}"#,
    BEFORE
)]
#[case(r#"{"Err":"Re-enqueued due to worker shutdown"}"#, AMBIGUOUS)]
#[case(r#"{"signal":"SIGKILL","code":null,"message":"Connection refused"}"#, AMBIGUOUS)]
#[case(r#"{"exitCode":137,"message":"Connection refused"}"#, AMBIGUOUS)]
#[case(r#"{"message":"Connection refused","log":"Read timed out"}"#, AMBIGUOUS)]
#[case(r#"{"message":"it failed","note":"Connection refused"}"#, AMBIGUOUS)]
#[case(r#"{"unknown_key":{"text":"ECONNREFUSED"}}"#, BEFORE)]
#[case("{\"message\":\"Connection refused\"", BEFORE)]
#[case("[[[[[[[[[[[[\"Connection refused\"]]]]]]]]]]]]", AMBIGUOUS)]
#[case("NET::READTIMEOUT", AMBIGUOUS)]
#[case("CONNECTION REFUSED", BEFORE)]
#[case("Attempt 1: Read timed out, retrying\nAttempt 2: Connection refused", AMBIGUOUS)]
fn json_and_lists(#[case] text: &str, #[case] class: ErrorClass) {
    let got = TABLE.classify(Some(text));
    assert_eq!(got.class, class, "{got:?}");
}

#[rstest]
#[case(None)]
#[case(Some(""))]
#[case(Some("  \n\t "))]
#[case(Some("null"))]
#[case(Some("[]"))]
#[case(Some("{}"))]
#[case(Some("[null]"))]
#[case(Some("\"\""))]
fn no_text_is_no_proof(#[case] text: Option<&str>) {
    let got = TABLE.classify(text);
    assert_eq!((got.class, got.rule, &**got.why), (AMBIGUOUS, None, "no error text"));
}

#[test]
fn a_huge_text_is_read_at_both_ends() {
    let noise = "lorem ipsum ".repeat(100_000);
    let at_the_end = format!("{noise}\nRead timed out");
    assert_eq!(TABLE.classify(Some(&at_the_end)).rule, Some("read-timeout"));
    let at_the_start = format!("Connection refused\n{noise}");
    assert_eq!(TABLE.classify(Some(&at_the_start)).class, BEFORE);
}

#[test]
fn the_last_entry_of_a_huge_list_counts() {
    let old = r#"{"attempt":1,"error":"Connection refused"},"#.repeat(20_000);
    let text = format!(r#"[{old}{{"attempt":9,"error":"strange, with ] and \" inside"}}]"#);
    assert_eq!(TABLE.classify(Some(&text)).class, AMBIGUOUS);
    let text = format!(
        r#"[{}{{"attempt":9,"error":"Connection refused"}}]"#,
        old.replace("Connection refused", "x")
    );
    assert_eq!(TABLE.classify(Some(&text)).class, BEFORE);
}

#[test]
fn own_rules_go_in_front() {
    let own = "[[rule]]\nid = \"ours\"\nclass = \"before_effect\"\nwhy = \"our gateway says so\"\nany = ['gw-17\\b']\n";
    let table = TABLE.clone().with_first(ErrorTable::parse(own).unwrap());
    assert_eq!(table.classify(Some("GW-17: Read timed out")).rule, Some("ours"));
    assert_eq!(table.classify(Some("Read timed out")).rule, Some("read-timeout"));
    assert_eq!(table.classify(Some("what")).rule, None);
}

#[rstest]
#[case("[[rule]]\nid='a'\nclass='ambiguous'\nwhy='w'\nany=['x']\ncolour='red'", "unknown field `colour`")]
#[case("[[rule]]\nid='a'\nclass='maybe'\nwhy='w'\nany=['x']", "unknown variant `maybe`")]
#[case("[[rule]]\nid='a'\nclass='ambiguous'\nwhy='w'\nany=['x(']", "rule \"a\": pattern 1 (`x(`)")]
#[case("[[rule]]\nid='a'\nclass='ambiguous'\nwhy='w'\nany=['Read']", "has the capital R")]
#[case("[[rule]]\nid='a'\nclass='ambiguous'\nwhy='w'\nany=['x*']", "matches the empty text")]
#[case("[[rule]]\nid='a'\nclass='ambiguous'\nwhy='w'\nany=[]", "any is empty")]
#[case("[[rule]]\nid='a'\nclass='ambiguous'\nwhy='w'\nany=['x']\ncovers=true", "`covers` belongs")]
#[case("[[rule]]\nid='a'\nclass='refused'\nwhy='w'\nany=['x']\nweak=true", "`weak` belongs")]
#[case(
    "[[rule]]\nid='a'\nclass='refused'\nwhy='w'\nany=['x']\n[[rule]]\nid='a'\nclass='refused'\nwhy='w'\nany=['x']",
    "number 2"
)]
fn faults_name_the_rule_and_the_place(#[case] toml: &str, #[case] part: &str) {
    let fault: ErrorTableFault = ErrorTable::parse(toml).unwrap_err();
    assert!(fault.to_string().contains(part), "{fault}");
}

#[test]
fn classes_have_one_name_everywhere() {
    for class in [BEFORE, AMBIGUOUS, REFUSED] {
        assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{class}\""));
        assert_eq!(serde_json::from_str::<ErrorClass>(&format!("\"{}\"", class.as_str())).unwrap(), class);
    }
}

proptest! {
    #[test]
    fn any_text_is_sorted(text in "\\PC*") {
        let _ = TABLE.classify(Some(&text));
    }

    #[test]
    fn any_lines_are_sorted(text in "([\\[\\]{}\"\\\\:, \n|]|Caused by|File|at |[a-zé\u{301}ßİ])*") {
        let _ = TABLE.classify(Some(&text));
    }

    #[test]
    fn a_read_timeout_in_noise_is_never_before_the_effect(
        before in "[ -~\n]{0,80}", after in "[ -~\n]{0,80}",
        proof in prop::sample::select(vec!["", "Connection refused", "connect ETIMEDOUT", "status code 404", "Net::OpenTimeout"]),
        marker in prop::sample::select(vec!["Read timed out", "Connection reset by peer", "socket hang up", "context deadline exceeded", "unexpected EOF"]),
    ) {
        let text = format!("{proof} {before} {marker} {after}");
        let got = TABLE.classify(Some(&text));
        prop_assert_eq!(got.class, AMBIGUOUS, "{} by {:?}", text, got.rule);
    }
}
