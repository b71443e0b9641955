//! Finds what went wrong in JSON that job systems, clients and providers store as an error.

use serde_json::{Map, Value};

use crate::domain::error_text::{self, END_BYTES, Link};

/// How deep JSON in JSON is followed.
const DEPTH: usize = 8;

/// The largest JSON text that is read whole. A longer list is cut to its last entry first.
const READ_BYTES: usize = 16 * END_BYTES;

/// What a key of an error object holds.
enum Role {
    /// The kind of error, shown before its message.
    Class,
    /// Words, or an object or list with the words inside.
    Says,
    /// A status of HTTP or SMTP.
    Status,
    /// A name or number that is worth its key.
    Named(&'static str),
    /// The error behind this one.
    Cause,
    /// A stack, maybe with the errors behind this one.
    Stack,
    /// Nothing about what went wrong.
    Other,
}

/// The errors in a JSON text; `None` when it is not JSON.
pub fn links(text: &str, depth: usize) -> Option<Vec<Link>> {
    if depth >= DEPTH || !text.starts_with(['[', '{', '"']) {
        return None;
    }
    let text = if text.len() > READ_BYTES { last_entry(text)? } else { text };
    let value = serde_json::from_str(text).ok().or_else(|| postgres_array(text))?;
    Some(value_links(&value, depth + 1))
}

/// A `PostgreSQL` array of text, `{"…","…"}`, has the strings of a JSON list.
fn postgres_array(text: &str) -> Option<Value> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    serde_json::from_str(&format!("[{inner}]")).ok()
}

/// The last entry of a list too long to read whole.
fn last_entry(text: &str) -> Option<&str> {
    if !text.starts_with('[') {
        return None;
    }
    let (mut level, mut in_string, mut escaped, mut start) = (0_usize, false, false, 1);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => level += 1,
            b']' | b'}' => level = level.saturating_sub(1),
            b',' if level == 1 => start = at + 1,
            _ => {}
        }
    }
    let entry = text.get(start..)?.trim_end().strip_suffix(']')?.trim();
    (level == 0 && entry.len() <= READ_BYTES).then_some(entry)
}

fn value_links(value: &Value, depth: usize) -> Vec<Link> {
    if depth > DEPTH {
        return Vec::new();
    }
    match value {
        Value::String(text) => error_text::links(text, depth),
        // A list of errors has one entry an attempt, the newest last.
        Value::Array(entries) => {
            entries.last().map(|entry| value_links(entry, depth + 1)).unwrap_or_default()
        }
        Value::Object(fields) => object_links(fields, depth),
        Value::Number(number) => vec![Link { text: number.to_string(), unrelated: false }],
        Value::Null | Value::Bool(_) => Vec::new(),
    }
}

fn object_links(fields: &Map<String, Value>, depth: usize) -> Vec<Link> {
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    let (mut class, mut words) = (String::new(), Vec::new());
    let (mut known, mut aside) = (false, String::new());
    for (key, value) in fields {
        let role = role(key);
        known |= !matches!(role, Role::Other);
        match role {
            Role::Class => match value {
                Value::String(name) if !name.contains('\n') => {
                    class.push_str(if class.is_empty() { "" } else { " " });
                    class.push_str(name);
                }
                other => words.extend(inner(other, depth).into_iter().map(|link| link.text)),
            },
            Role::Says => push_said(value, depth, &mut words, &mut before),
            Role::Status => words.extend(status(value)),
            Role::Named(name) => words.extend(scalar(value).map(|text| format!("{name} {text}"))),
            Role::Cause => behind.extend(inner(value, depth)),
            Role::Stack => before.extend(inner(value, depth)),
            Role::Other => aside.extend(value.as_str().map(|text| format!("{text}\n"))),
        }
    }
    if !known {
        return fields.values().flat_map(|value| inner(value, depth)).collect();
    }
    let text = sentence(class, &words);
    before.push(Link { text, unrelated: false });
    before.extend(behind);
    before.retain(|link| !link.text.trim().is_empty());
    // What stands under other keys can raise a doubt, but proves nothing.
    if let Some(first) = before.first_mut().filter(|_| !aside.is_empty()) {
        first.unrelated = true;
        before.insert(0, Link { text: aside, unrelated: false });
    }
    before
}

/// "Class: message", then whatever else is said and not yet there, a line each.
fn sentence(class: String, words: &[String]) -> String {
    let mut text = class;
    let mut joint = if text.is_empty() { "" } else { ": " };
    for said in words.iter().map(|said| said.trim()).filter(|said| !said.is_empty()) {
        if !text.contains(said) {
            text.push_str(joint);
            text.push_str(said);
        }
        joint = "\n";
    }
    text
}

/// What a message says: its last error joins the words, the ones before it the chain.
fn push_said(value: &Value, depth: usize, words: &mut Vec<String>, before: &mut Vec<Link>) {
    let mut said = inner(value, depth);
    words.extend(said.pop().map(|link| link.text));
    before.extend(said);
}

/// The errors of a value inside an error: a list there belongs to one failure, unless it lists attempts.
fn inner(value: &Value, depth: usize) -> Vec<Link> {
    match value {
        Value::Array(entries) if !entries.iter().any(is_attempt) => {
            let text: Vec<String> = entries
                .iter()
                .flat_map(|entry| value_links(entry, depth + 1))
                .map(|link| link.text)
                .collect();
            vec![Link { text: text.join("\n"), unrelated: false }]
        }
        other => value_links(other, depth + 1),
    }
}

fn is_attempt(entry: &Value) -> bool {
    entry.get("attempt").is_some() || entry.get("at").is_some() || entry.get("FailedAt").is_some()
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// A status; a number says which, a word (`PERMISSION_DENIED`, `failed`) speaks for itself.
fn status(value: &Value) -> Option<String> {
    let text = scalar(value)?;
    let number = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    Some(if number { format!("status code {text}") } else { text })
}

fn role(key: &str) -> Role {
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    match plain.as_str() {
        "exceptionclass" | "exctype" | "exceptiontype" | "errorclass" | "errortype" | "name" | "type"
        | "class" | "exception" | "errname" => Role::Class,
        "message" | "msg" | "error" | "errors" | "err" | "errormessage" | "excmessage"
        | "exceptionmessage" | "detail" | "details" | "reason" | "description" | "errordescription"
        | "title" | "text" | "lasterror" | "failure" | "refusalreason" | "failurereason" | "failedreason"
        | "failuremessage" | "faultstring" | "fault" | "errorcode" | "errcode" | "declinecode" | "issue"
        | "resultcode" | "data" | "body" | "response" | "result" | "value" | "output" | "sellermessage"
        | "statusdetail" | "statustext" | "statusmessage" | "reasoncode" | "outcome" | "category"
        | "exceptiondetails" | "excmodule" | "argument" | "usermessage" | "developermessage" => Role::Says,
        "code" => Role::Named(""),
        "status" | "statuscode" | "httpstatus" | "httpstatuscode" | "httpcode" | "httpstatuscodes"
        | "responsecode" | "responsestatus" | "httpresponsecode" => Role::Status,
        "cause" | "causes" | "causedby" | "inner" | "innererror" | "innerexception" | "originalerror"
        | "previous" | "source" | "suppressed" => Role::Cause,
        "stack" | "stacktrace" | "trace" | "traceback" => Role::Stack,
        "command" => Role::Named("command"),
        "syscall" => Role::Named("syscall"),
        "connect" => Role::Named("connect"),
        "signal" => Role::Named("signal"),
        "exitcode" | "exitstatus" => Role::Named("exit code"),
        "killed" => Role::Named("process killed"),
        _ => Role::Other,
    }
}
